// Workbooks of hundreds of megabytes.
import { describe, expect, test } from 'bun:test'
import { readWorkbook } from '../../../src/formats/workbook/workbook'
import { inlineText, packed, rowsOf } from '../../formats/workbook'

describe('a workbook that is too large', () => {
  const bomb: [Uint8Array, { level: 1 }] = [new Uint8Array(260_000_000), { level: 1 }]

  test('is refused before it is unpacked', async () => {
    const bytes = packed('', { 'xl/worksheets/sheet2.xml': bomb })

    expect(bytes.length).toBeLessThan(3_000_000)
    expect(await readWorkbook(bytes, null).catch(String)).toContain(
      'larger than 250 MB; save the sheet as CSV',
    )
  })

  test('is refused even if it claims to be small', async () => {
    const bytes = packed('', { 'xl/worksheets/sheet2.xml': bomb })
    const view = new DataView(bytes.buffer)
    for (let at = 0; at + 4 <= bytes.length; at++) {
      if (view.getUint32(at, true) === bomb[0].length) view.setUint32(at, 10, true)
    }

    expect(await readWorkbook(bytes, null).catch(String)).toContain('it is damaged')
  })

  test('is read if only a picture is too large, because pictures are not unpacked', async () => {
    const bytes = packed(`<row r="1">${inlineText('name')}</row>`, { 'xl/media/image1.bmp': bomb })
    const from = performance.now()

    expect(await rowsOf(bytes)).toEqual([{ line: 1, cells: ['name'] }])
    expect(performance.now() - from).toBeLessThan(2000)
  })
})
