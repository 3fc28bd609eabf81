import { Database } from 'bun:sqlite'
import { expect } from 'bun:test'
import type { ErrorNumber } from '../../src/errors'

/** A plant as it lies in the database. */
export type StoredPlant = {
  readonly id: bigint
  readonly name: string
  readonly tag: string | null
}

/** Every plant of a database, read past the daemon, in ascending order of the ids. */
export function storedPlants(database: string): StoredPlant[] {
  const db = new Database(database, { readonly: true, safeIntegers: true })
  try {
    return db.query<StoredPlant, []>('SELECT id, name, tag FROM plants ORDER BY id').all()
  } finally {
    db.close(true)
  }
}

/** Expects that an answer refuses with a number of the error table: its status, and exactly an Error. Resolves to the message. */
export async function expectError(answer: Response, error: ErrorNumber): Promise<string> {
  const text = await answer.text()
  const { error: number, message, ...rest } = JSON.parse(text)
  expect({ number, status: answer.status }).toEqual({
    number: error,
    status: Math.floor(error / 100),
  })
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(message).toBeString()
  expect(message).not.toBeEmpty()
  expect(rest).toEqual({})
  return message
}
