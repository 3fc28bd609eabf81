// The analysis of a file that becomes unreadable after it was opened, for instance because it was removed.
import { expect, test } from 'bun:test'
import { USUAL_SETTINGS } from '../../../src/formats/question'
import type { Line } from '../../../src/formats/row'
import { ofOptionalTexts } from '../../../src/plant/plant'
import { analyze } from '../../../src/web/console/import/analyze'
import { createComparison } from '../../../src/web/console/import/compare'
import { openFile } from '../../../src/web/console/import/readable-file'
import { Session } from '../../../src/web/console/session'

const session = new Session(new URL('http://127.0.0.1:1/'))

/** Returns the interim results and the last one for a file that fails after `rowsRead` rows. */
async function analysisOf(rowsRead: number) {
  const file = new File(['id,name\n1,Fern\n2,Ivy\n'], 'a.csv')
  const opened = await openFile(file, USUAL_SETTINGS, new AbortController().signal)
  async function* rows(): AsyncGenerator<readonly Line[]> {
    for await (const part of opened.rows()) if (rowsRead > 0) yield part.slice(0, rowsRead)
    throw new DOMException('The file could not be read.', 'NotReadableError')
  }
  const columns = { id: 0, name: [1], numberFrom: null, ...ofOptionalTexts(() => null) }
  return Array.fromAsync(analyze({ ...opened, rows }, columns, createComparison(session)))
}

test('an aborted analysis has a reason, and the rows read before', async () => {
  expect(await analysisOf(0)).toMatchObject([
    { rows: 0, isWhole: true, unreadReason: 'the file cannot be read' },
  ])
  expect(await analysisOf(1)).toMatchObject([
    { rows: 1, isWhole: false, unreadReason: null },
    { rows: 1, isWhole: true, unreadReason: 'the rest: the file cannot be read' },
  ])
})
