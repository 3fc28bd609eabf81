import { afterEach, beforeEach, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Change } from '../src/engine/sqlite/apply-change'
import { filesOf } from '../src/engine/sqlite/committer'
import { connect, openDatabase, openFile } from '../src/engine/sqlite/database-file'
import { createInlineWriter } from '../src/engine/sqlite/inline-writer'

const create = (id: number): Change => ['create', [String(id), `n${id}`, null]]
const creates = (count: number) => Array.from({ length: count }, (_, index) => create(index))

let folder: string
let path: string
let db: ReturnType<typeof openDatabase>
let tidied: number
let writer: ReturnType<typeof createInlineWriter>

const stored = () => db.query<{ name: string }, []>('SELECT name FROM plants ORDER BY id').all()
const names = () => stored().map(({ name }) => name)

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'plantstore-inline-'))
  path = join(folder, 'plants.db')
  db = openDatabase(openFile(path), false)
  tidied = 0
  writer = createInlineWriter(filesOf(path), () => {
    tidied++
  })
})

afterEach(() => {
  writer.close()
  db.close(true)
  rmSync(folder, { recursive: true })
})

test('commits a small batch at once', () => {
  expect(writer.write([create(1), create(2)])).toBe('done')
  expect(names()).toEqual(['n1', 'n2'])
})

test('leaves a large batch to the other thread', () => {
  expect(writer.write(creates(65))).toBeNull()
  expect(writer.write([['createAll', [['1', 'n1', null]]]])).toBeNull()
  expect(names()).toEqual([])
  expect(writer.write(creates(64))).toBe('done')
  expect(names()).toHaveLength(64)
})

test('leaves all to the other thread while commits take long, and only then', () => {
  writer.took(100)
  expect(writer.write([create(1)])).toBeNull()
  for (let commit = 0; commit < 100; commit++) writer.took(0.1)
  expect(writer.write([create(1)])).toBe('done')
})

test('leaves it to the other thread to wait for another process that writes', () => {
  const other = connect(path)
  other.run('BEGIN IMMEDIATE')
  expect(writer.write([create(1)])).toBeNull()
  other.run('ROLLBACK')
  other.close(true)
  expect(writer.write([create(1)])).toBe('done')
})

test('has the log looked after with each hundredth batch', () => {
  for (let id = 1; id <= 200; id++) {
    writer.write([create(id)])
    expect(tidied).toBe(Math.floor(id / 100))
  }
})

test('writes nothing to a file that has taken the place of its own', () => {
  copyFileSync(path, join(folder, 'copy'))
  renameSync(join(folder, 'copy'), path)
  expect(writer.write([create(1)])).toMatchObject({
    failure: { kind: 'failed', detail: expect.stringContaining('moved') },
  })
  const replaced = connect(path)
  expect(replaced.query('SELECT * FROM plants').all()).toEqual([])
  replaced.close(true)
})
