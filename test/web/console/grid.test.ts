// Cells from the clipboard, which any page may have written.
import { expect, test } from 'bun:test'
import { readPastedGrid } from '../../../src/web/console/cells/grid'

const tableOf = (cells: string) => `<table data-plantstore-cells="${encodeURIComponent(cells)}">`

test('cells that were copied in the console keep their tabs and line ends', () => {
  const html = tableOf('[["Aloe\\tvera","a\\nb"],["",""]]')

  expect(readPastedGrid('x', html, false)).toEqual([
    ['Aloe\tvera', 'a\nb'],
    ['', ''],
  ])
})

test.each(['{}', '[]', '[["a"],"b"]', '[[1]]', 'null', 'x'])(
  'a table whose cell data is %s is read as plain text',
  (cells) => {
    expect(readPastedGrid('Aloe', tableOf(cells), false)).toEqual([['Aloe']])
  },
)

test('a table whose cell data is badly encoded is read as plain text', () => {
  const html = '<table data-plantstore-cells="%E0%A4%A">'

  expect(readPastedGrid('Aloe', html, false)).toEqual([['Aloe']])
})
