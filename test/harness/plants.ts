// Plants as they are in the database file, and refusals as a client sees them.
import { Database } from 'bun:sqlite'
import { expect } from 'bun:test'
import { databaseAt, query } from './server-database'

/** A row of the table. */
export type StoredPlant = {
  readonly id: bigint
  readonly name: string
  readonly tag: string | null
}

/** Every plant of a database in ascending order of ids, read from the file; or from a server. */
export function storedPlants(database: string): StoredPlant[] {
  if (databaseAt(database) !== database) return plantsOfServer(database)
  const db = new Database(database, { readonly: true, safeIntegers: true })
  try {
    return db.query<StoredPlant, []>('SELECT id, name, tag FROM plants ORDER BY id').all()
  } finally {
    db.close(true)
  }
}

// In hexadecimal: psql leaves out code points that it cannot show.
const SELECT = `SELECT encode(convert_to(json_build_array(id::text, name, tag)::text, 'UTF8'), 'hex')
  FROM plants ORDER BY id`

function plantsOfServer(database: string): StoredPlant[] {
  return query(databaseAt(database, 'libpq'), SELECT)
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [id, name, tag] = JSON.parse(Buffer.from(line, 'hex').toString())
      return { id: BigInt(id), name, tag }
    })
}

/** Expects a refusal: this error number, its status, and exactly an Error as the body. Resolves to the message. */
export async function expectError(answer: Response, error: number): Promise<string> {
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
