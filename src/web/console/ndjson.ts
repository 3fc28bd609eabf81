// Plants as NDJSON, with exact ids.

import type { NewPlant } from '../../client/client.ts'
import { FileError, type RawEntry } from './raw-entry.ts'

const LONGEST_LINE = 64 * 1024 * 1024
const ARRAY = 'expected one plant object per line, found an array'
const DIGITS = /^-?\d{1,30}$/

// The source text of a number; TypeScript does not know this parameter yet.
type Context = { readonly source?: string }

function reviveId(this: unknown, key: string, value: unknown, context?: Context): unknown {
  if (key !== 'id' || typeof value !== 'number') return value
  const source = context?.source
  if (source !== undefined && DIGITS.test(source)) return BigInt(source)
  // Without the source, or for 1.0: accepts only numbers too small to have been rounded.
  return Number.isSafeInteger(value) && Math.abs(value) < 2 ** 50 ? BigInt(value) : value
}

function readLine(line: number, text: string): RawEntry {
  try {
    const value: unknown = JSON.parse(text, reviveId)
    return Array.isArray(value) ? { line, problem: ARRAY } : { line, value }
  } catch {
    return { line, problem: 'not JSON' }
  }
}

/** Reads the lines of a text, skipping blank ones. */
export async function* readNdjson(text: AsyncIterable<string>): AsyncGenerator<RawEntry> {
  let line = 0
  let rest = ''
  let isFirst = true

  function* take(whole: string): Generator<RawEntry> {
    line += 1
    if (whole.trim() === '') return
    if (isFirst && whole.trimStart().startsWith('[')) {
      throw new FileError(`${ARRAY}; convert with: jq -c '.[]'`)
    }
    isFirst = false
    yield readLine(line, whole)
  }

  for await (const part of text) {
    const lines = (rest + part).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > LONGEST_LINE)
      throw new FileError(`line ${line + lines.length + 1} is too long`)
    for (const whole of lines) yield* take(whole)
  }
  if (rest !== '') yield* take(rest)
}

/** A plant as a line. */
export const ndjsonLine = ({ id, name, tag }: NewPlant): string =>
  `{"id":${id},${JSON.stringify({ name, tag }).slice(1)}\n`
