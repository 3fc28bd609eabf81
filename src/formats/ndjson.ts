// Plants as JSON, one a line.

import { OpenError, PlantError } from '../errors'
import type { NewPlant } from '../plant'
import { parseBody, toJson } from '../plant-json'
import { refuseUtf16, withoutByteOrderMark } from './encoding'
import { readLines } from './lines'

/** The value of a line, or what is wrong with it. */
export type NdjsonEntry = { readonly line: number } & (
  | { readonly value: unknown }
  | { readonly problem: string }
)

const ARRAY = 'expected one plant object per line, found an array'

const isSpace = (byte: number): boolean => byte === 32 || byte === 13 || byte === 9

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

function readLine(line: number, bytes: Uint8Array): NdjsonEntry {
  try {
    const value = parseBody(bytes)
    return Array.isArray(value) ? { line, problem: ARRAY } : { line, value }
  } catch (error) {
    if (!(error instanceof PlantError)) throw error
    return { line, problem: isUtf8(bytes) ? 'not JSON' : 'not UTF-8; convert with iconv' }
  }
}

/** Reads the lines of a stream, those that are blank left out. Throws an `OpenError` where the first begins an array. */
export async function* readNdjsonLines(
  stream: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<NdjsonEntry> {
  let isFirst = true
  for await (const { number: line, bytes } of readLines(refuseUtf16(stream), limit)) {
    if (bytes === null) {
      yield { line, problem: `longer than ${limit} bytes` }
      continue
    }
    const text = line === 1 ? withoutByteOrderMark(bytes) : bytes
    const begin = text.find((byte) => !isSpace(byte))
    if (begin === undefined) continue
    if (isFirst && begin === 91) throw new OpenError(`${ARRAY}; convert with: jq -c '.[]'`)
    isFirst = false
    yield readLine(line, text)
  }
}

/** The line of a plant. */
export const ndjsonLine = (plant: NewPlant): string => `${JSON.stringify(toJson(plant))}\n`
