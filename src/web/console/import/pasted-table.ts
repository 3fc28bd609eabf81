// Pasted rows as a table. They have a header only if one of its headings is known.

import { isKnownHeading } from '../../../formats/headings.ts'
import { parseInt64 } from '../../../plant/plant.ts'
import { type Proposal, propose } from './column-proposal.ts'
import type { DetectedFile } from './detect-file.ts'
import { openFile, type ReadableFile } from './readable-file.ts'

/** Two columns of texts are names and tags; one column has names. */
function proposeUnnamed({ table }: ReadableFile, proposal: Proposal): Proposal {
  const { header, sample } = table
  const isNumbers = (column: number) =>
    sample.every(({ cells }) => Array.isArray(cells) && parseInt64(String(cells[column])) !== null)
  if (proposal.columns.name.length > 0 || header.length > 2) return proposal
  if ([...header.keys()].some(isNumbers)) return proposal
  const tag = header.length === 2 ? 1 : null
  return { ...proposal, columns: { ...proposal.columns, id: null, name: [0], tag } }
}

/** Opens pasted rows again without a header, unless a heading is known. */
export async function withoutHeader(
  found: DetectedFile,
  signal: AbortSignal,
): Promise<DetectedFile> {
  const { file, format, readable, settings } = found
  if (!readable || format === 'json' || format === 'ndjson') return found
  if (readable.table.header.some(isKnownHeading)) return found
  const other = { ...settings, hasHeader: false, headerRow: null }
  const table = await openFile(file, format, other, signal)
  const proposal = proposeUnnamed(table, await propose(table.table))
  return { ...found, readable: table, settings: other, proposal: { ...proposal, isUsual: false } }
}
