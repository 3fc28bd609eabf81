// Opens a file of plants with its settings; its columns are found after that.

import { OpenError } from '../errors'
import type { Detection } from './encoding/detect'
import { decodeText, encodingOf, sampleText } from './encoding/encoding'
import { checkHead, type Format, findFormat } from './format'
import { Question, type Settings } from './question'
import { type Opener, replay, type Source } from './source'
import { headOf, MAX_ROW, openTable, type Table } from './table'
import type { WorkbookReader } from './workbook/workbook'

/** The long calls of an opening, which run elsewhere. */
export type Tools = {
  readonly readBook: WorkbookReader
  readonly detectEncoding: (lines: readonly Uint8Array[]) => Promise<Detection | null>
}

/** Reads a whole text. Throws a {@link Question} if it is in another encoding. */
async function checkText(open: Opener, encoding: string, tools: Tools): Promise<void> {
  try {
    for await (const _ of decodeText(open('inspect'), encoding));
  } catch (error) {
    if (!(error instanceof Question) || encoding !== 'utf-8') throw error
    const { line, lines } = await sampleText(open('inspect'))
    const problem = `not UTF-8 at line ${line}`
    const detection = await tools.detectEncoding(lines)
    if (!detection)
      throw new OpenError(`${problem}, unlike other lines; save the file in one encoding`)
    const { encoding: found, readings } = detection
    const reads = readings.length === 0 ? '' : `: it reads ${readings.join(', ')}`
    throw new Question(problem + reads, { encoding: found })
  }
}

/**
 * Opens a file. `format`: null to find it by the first bytes and the name. Throws a {@link Question} if other settings are
 * needed, or an `OpenError` with a fix if it cannot be read. The text of a file is checked to its end before.
 */
export async function openPlants(
  { name, format: namedFormat, source }: { name: string; format: Format | null; source: Source },
  settings: Settings,
  tools: Tools,
): Promise<Table> {
  const isFile = typeof source === 'function'
  const open = isFile ? source : replay(source, MAX_ROW)
  const head = await headOf(open)
  const format = namedFormat ?? findFormat(name, head)
  const encoding = settings.encoding ?? encodingOf(head)
  checkHead(format, head, encoding)
  if (isFile && format !== 'xlsx') await checkText(open, encoding, tools)
  return openTable(format, open, settings, tools.readBook)
}
