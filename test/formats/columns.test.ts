import { describe, expect, test } from 'bun:test'
import { resolveColumns } from '../../src/formats/columns'
import { Question } from '../../src/formats/question'
import { tableOf, USUAL_COLUMNS } from './reading'

const resolve = (header: readonly string[], options: Partial<typeof USUAL_COLUMNS> = {}) => {
  try {
    return resolveColumns(tableOf(header, []), { ...USUAL_COLUMNS, ...options })
  } catch (error) {
    if (error instanceof Question) return error.message
    throw error
  }
}

describe('columns', () => {
  test('are found by their names; case and invisible characters are ignored', () => {
    expect(resolve(['\u200bTAG', ' Name ', 'other', '\ufeffId'])).toMatchObject({
      id: 3,
      numberFrom: null,
      name: [1],
      tag: 0,
    })
  })

  test('can be chosen by heading or by number, from 1; a heading takes precedence', () => {
    const header = ['2', 'Latin Name', 'Nr']
    expect(resolve(header, { idColumn: ' nr', nameColumn: ['latin name'] })).toMatchObject({
      id: 2,
      name: [1],
    })
    expect(resolve(header, { idColumn: '3', nameColumn: ['2'] })).toMatchObject({
      id: 2,
      name: [0],
    })
    expect(resolve(header, { idColumn: 'nr', nameColumn: ['2', 'latin name'] })).toMatchObject({
      name: [0, 1],
    })
  })

  test.each([
    [['id', 'latin'], {}, 'no column "name"; found "id", "latin"'],
    [['name', ''], {}, 'no column "id"; found "name", column 2'],
    [['id', 'name'], { tagColumn: 'family' }, 'no column "family"; found "id", "name"'],
    [['id', 'name'], { tagColumn: '3' }, 'no column "3"; found "id", "name"'],
    [
      ['id', 'name', 'Name'],
      { nameColumn: ['NAME'] },
      'columns 2 and 3 are both "NAME"; name one by its number; found "id", "name", "Name"',
    ],
    [
      ['id', 'name', 'name'],
      {},
      'columns 2 and 3 are both "name"; name one by its number; found "id", "name", "name"',
    ],
    [['id', '\u200bn\x1b[31m'], {}, 'no column "name"; found "id", "\\u200bn\\u001b[31m"'],
  ])('are named in the message if missing or ambiguous: %j %j', (header, options, message) => {
    expect(resolve(header, options)).toBe(message)
  })
})
