import { describe, expect, test } from 'bun:test'
import { ColumnsError, guessColumns, resolveColumns } from '../../src/formats/columns'
import type { Row } from '../../src/formats/row'
import { open, USUAL_COLUMNS } from './reading'

const resolve = (header: readonly string[], options: Partial<typeof USUAL_COLUMNS> = {}) => {
  try {
    return resolveColumns(header, [], { ...USUAL_COLUMNS, ...options })
  } catch (error) {
    if (error instanceof ColumnsError) return error.message
    throw error
  }
}

describe('columns', () => {
  test('are found by their names, whatever their case and what cannot be seen in them', () => {
    expect(resolve(['\u200bTAG', ' Name ', 'other', '\ufeffId'])).toMatchObject({
      id: 3,
      numberFrom: null,
      name: 1,
      tag: 0,
    })
  })

  test('are named by a text or by a number from 1; a text goes first', () => {
    const header = ['2', 'Latin Name', 'Nr']
    expect(resolve(header, { idColumn: ' nr', nameColumn: 'latin name' })).toMatchObject({
      id: 2,
      name: 1,
    })
    expect(resolve(header, { idColumn: '3', nameColumn: '2' })).toMatchObject({ id: 2, name: 0 })
  })

  test.each([
    [['id', 'latin'], {}, 'no column "name"; found "id", "latin"'],
    [['name', ''], {}, 'no column "id"; found "name", column 2'],
    [['id', 'name'], { tagColumn: 'family' }, 'no column "family"; found "id", "name"'],
    [['id', 'name'], { tagColumn: '3' }, 'no column "3"; found "id", "name"'],
    [
      ['id', 'name', 'Name'],
      { nameColumn: 'NAME' },
      'columns 2 and 3 are both "NAME"; name one by its number; found "id", "name", "Name"',
    ],
    [
      ['id', 'name', 'name'],
      {},
      'columns 2 and 3 are both "name"; name one by its number; found "id", "name", "name"',
    ],
    [['id', '\u200bn\x1b[31m'], {}, 'no column "name"; found "id", "\\u200bn\\u001b[31m"'],
  ])('that do not fit are named: %j %j', (header, options, message) => {
    expect(resolve(header, options)).toBe(message)
  })
})

describe('a guess', () => {
  const guess = async (text: string) => {
    const { header, sample } = await open('csv', text)
    const { header: _, ...found } = guessColumns(header, sample, true) ?? { header: null }
    return found
  }

  test.each([
    [
      'Artikel-Nr;Bezeichnung;Gruppe\n7;Frauenmantel;Stauden\n8;Salbei;\n',
      ['Artikel-Nr', 'Bezeichnung', 'Gruppe'],
    ],
    [
      'gbifID\tscientificName\tfamily\n9\tHedera\tAraliaceae\n',
      ['gbifID', 'scientificName', 'family'],
    ],
    ['sku,Common Name,Category\nA1,Fern,shade\n', [null, 'Common Name', 'Category']],
    ['id,species,genus\n1,Hedera helix,Hedera\n1,Acer,Acer\n', [null, 'species', 'genus']],
    ['x,y\nHedera,5\nAcer,7\n', [null, 'x', null]],
    ['plant_id,common_name,family\n1,Fern,P\n', ['plant_id', 'common_name', 'family']],
  ])('comes from names and values: %j', async (text, [idColumn, nameColumn, tagColumn]) => {
    expect(await guess(text)).toEqual({
      idColumn: idColumn ?? null,
      numberFrom: idColumn === null ? 1n : null,
      nameColumn: nameColumn ?? '',
      tagColumn: tagColumn ?? null,
    })
  })

  test('takes a header with a number for a row of plants', () => {
    const rows: Row[] = [{ line: 2, cells: ['Basil', 'Lamiaceae', '30'] }]
    try {
      resolveColumns(['Tomato', 'Solanaceae', '12'], rows, USUAL_COLUMNS)
      expect.unreachable()
    } catch (error) {
      expect(error).toHaveProperty('guess', {
        header: false,
        idColumn: null,
        numberFrom: 1n,
        nameColumn: '1',
        tagColumn: null,
      })
    }
  })

  test('is none where nothing looks like a name', async () => {
    expect(guessColumns(['a', 'b'], [{ line: 2, cells: ['1', '2'] }], true)).toBeNull()
  })
})
