// Written workbooks, read back by the xlsx library.
import { expect, test } from 'bun:test'
import { read, utils } from '@e965/xlsx'
import { writeWorkbook } from '../../src/formats/workbook/write'
import { OTHER_TEXTS } from '../harness/fields'

const sheetOf = (bytes: Uint8Array) => {
  const { Sheets, SheetNames } = read(bytes, { type: 'array', cellStyles: true })
  expect(SheetNames).toEqual(['Plants'])
  const sheet = Sheets.Plants
  if (!sheet) throw new Error('no sheet')
  return sheet
}

test('every field is written as a text cell, with exact ids and texts', () => {
  const plants = [
    { id: -(2n ** 63n), name: '=1+1', tag: '@x' },
    { id: 2n ** 63n - 1n, name: '_x0041_x0042_ & "<b>" 🌵', tag: ' a\nb ' },
    { id: 7n, name: '12' },
  ]
  const sheet = sheetOf(writeWorkbook(plants))

  expect(utils.sheet_to_json(sheet)).toEqual(
    plants.map(({ id, ...texts }) => ({ id: String(id), ...texts })),
  )
  const types = Object.entries(sheet).flatMap(([name, cell]) =>
    name.startsWith('!') ? [] : cell.t,
  )
  expect(new Set(types)).toEqual(new Set(['s']))
})

test('each column is as wide as its widest cell, up to a limit', () => {
  const widthsOf = (name: string) =>
    sheetOf(writeWorkbook([{ id: -(2n ** 63n), name }]))['!cols']?.map(({ wch }) => wch)
  const others = OTHER_TEXTS.map((text) => text.length + 1)

  expect(widthsOf('Monstera deliciosa')).toEqual([21, 19, 4, ...others])
  // A full-width character is as wide as two others.
  expect(widthsOf('ツバキ')).toEqual([21, 7, 4, ...others])
  expect(widthsOf('long '.repeat(100))).toEqual([21, 61, 4, ...others])
})

test('a text that is too long for a cell is refused, and the error names its plant', () => {
  const name = 'x'.repeat(32_767)
  expect(utils.sheet_to_json(sheetOf(writeWorkbook([{ id: 1n, name }])))).toEqual([
    { id: '1', name },
  ])
  expect(() => writeWorkbook([{ id: 1n, name: `${name}x` }])).toThrow(
    'the name of plant 1 is too long for a cell; export CSV',
  )
})
