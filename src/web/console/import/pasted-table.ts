// Pasted rows as a table. They have a header only if one of its headings is known.

import { isKnownHeading } from '../../../formats/headings.ts'
import { parseInt64 } from '../../../plant/plant.ts'
import type { Proposal } from './column-proposal.ts'
import { type DetectedFile, reopen } from './detect-file.ts'
import type { ReadableFile } from './readable-file.ts'

/** One column has names; two have names and tags; three have ids, names and tags, as they are copied here. */
function proposeUnnamed({ table }: ReadableFile, proposal: Proposal): Proposal {
  const { header, sample } = table
  if (proposal.columns.name.length > 0 && proposal.columns.tag !== null) return proposal
  const textOf = (cells: unknown, column: number) =>
    Array.isArray(cells) ? String(cells[column] ?? '') : ''
  const numbersOf = (column: number) => sample.map(({ cells }) => parseInt64(textOf(cells, column)))
  const isNumbers = (column: number) => numbersOf(column).every((number) => number !== null)
  const isIds = isNumbers(0) && new Set(numbersOf(0)).size === sample.length
  const id = header.length === 3 && isIds ? 0 : null
  const texts = [...header.keys()].filter((column) => column !== id)
  const [name, tag = null] = texts
  if (name === undefined || texts.length > 2 || texts.some(isNumbers)) return proposal
  return { ...proposal, columns: { ...proposal.columns, id, name: [name], tag } }
}

/** Opens pasted rows again without a header, unless a heading is known. */
export async function withoutHeader(
  detection: DetectedFile,
  signal: AbortSignal,
): Promise<DetectedFile> {
  const { readable } = detection
  if (!readable || readable.table.isKeyed) return detection
  if (readable.table.header.some(isKnownHeading)) return detection
  const below = await reopen(detection, { header: false, headerRow: null }, signal)
  return { ...below, proposal: proposeUnnamed(below.readable, below.proposal) }
}
