// Damage to the file of a closed database.
import { Database } from 'bun:sqlite'
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'

export const PAGE_BYTES = 4096
// The type of an interior page of a table.
const INTERIOR = 0x05

export function overwrite(file: string, at: number, bytes: Uint8Array): void {
  const fd = openSync(file, 'r+')
  writeSync(fd, bytes, 0, bytes.length, at)
  closeSync(fd)
}

/** The leaves of a table of a healthy store that is closed: their page numbers, in order of its keys. */
export function leavesOf(database: string, table: 'plants' | 'changes'): number[] {
  const db = new Database(database, { readonly: true })
  const root = db
    .query<{ rootpage: number }, [string]>('SELECT rootpage FROM sqlite_schema WHERE name = ?')
    .get(table)?.rootpage
  db.close(true)
  const file = readFileSync(database)
  // SQLite file format, section 1.6: an interior page has a cell for each child but the last.
  function leavesUnder(number: number): number[] {
    const page = file.subarray((number - 1) * PAGE_BYTES, number * PAGE_BYTES)
    if (page[0] !== INTERIOR) return [number]
    const cells = Array.from({ length: page.readUInt16BE(3) }, (_, cell) =>
      page.readUInt32BE(page.readUInt16BE(12 + 2 * cell)),
    )
    return [...cells, page.readUInt32BE(8)].flatMap(leavesUnder)
  }
  return leavesUnder(root ?? 0)
}

/** Damages a leaf in the middle of the table of plants, whose ids are from 0 on. `id`: that of a plant of it. */
export function damageLeaf(database: string): { readonly id: number; readonly repair: () => void } {
  const leaves = leavesOf(database, 'plants')
  const middle = Math.floor(leaves.length / 2)
  const at = ((leaves[middle] ?? 0) - 1) * PAGE_BYTES
  const page = readFileSync(database).subarray(at, at + PAGE_BYTES)
  const db = new Database(database, { readonly: true })
  const plants = db.query<{ n: number }, []>('SELECT count(*) AS n FROM plants').get()?.n ?? 0
  db.close(true)
  overwrite(database, at, Buffer.alloc(PAGE_BYTES, 0xff))
  const id = Math.round((plants * (middle + 0.5)) / leaves.length)
  return { id, repair: () => overwrite(database, at, page) }
}
