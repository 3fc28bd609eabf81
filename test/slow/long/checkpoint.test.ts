import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { program, startDaemon, startTemporary, temporaryFolder } from '../../harness/daemon'
import { startProcess } from '../../harness/process'

const LONG_LOG_BYTES = 40_000_000
// Of 800 KB.
const BATCHES = 400

test('a WAL that a reader made long is truncated with the next writes once the reader has gone', async () => {
  await using daemon = await startTemporary()
  const { database } = daemon
  const reader = new Database(database, { readonly: true })
  reader.run('BEGIN')
  reader.query('SELECT count(*) FROM plants').get()

  const walBytes = () => statSync(`${database}-wal`).size
  const name = 'x'.repeat(900_000)
  for (let id = 1; walBytes() < LONG_LOG_BYTES; id++) {
    expect((await daemon.create(`{"id":${id},"name":"${name}"}`)).status).toBe(200)
  }
  reader.run('COMMIT')
  reader.close(true)

  for (let id = 1001; id <= 1012; id++)
    expect((await daemon.create(`{"id":${id},"name":"${name}"}`)).status).toBe(200)
  expect(walBytes()).toBeLessThanOrEqual(32 * 1024 * 1024)
  expect(await daemon.stop()).toBe(0)
})

test('the WAL does not grow under reads that never pause', async () => {
  await using daemon = await startTemporary()
  const { database } = daemon
  const name = 'x'.repeat(20_000)
  const batch = (from: number) =>
    JSON.stringify({ plants: Array.from({ length: 40 }, (_, at) => ({ id: from + at, name })) })
  let longest = 0
  let written = 0
  const walBytes = () => statSync(`${database}-wal`).size
  await daemon.create(`{"id":0,"name":"Rose"}`)

  async function read(): Promise<void> {
    while (written < BATCHES) expect((await daemon.fetch('/plants/0')).status).toBe(200)
  }
  async function create(client: number): Promise<void> {
    while (written < BATCHES) {
      written += 1
      const body = batch(client * 1_000_000 + written * 40)
      expect((await daemon.fetch('/plants/batch', { method: 'POST', body })).status).toBe(200)
      longest = Math.max(longest, walBytes())
    }
  }
  await Promise.all([...Array.from({ length: 24 }, read), create(1), create(2)])

  expect(longest).toBeLessThan(LONG_LOG_BYTES)
})

test.each([
  ['changes', []],
  ['changes --follow', ['--follow']],
])('%s lets the daemon empty its WAL while its reader pauses', async (_, words) => {
  using folder = temporaryFolder()
  const [database, pipe] = [folder.file('plants.db'), folder.file('pipe')]
  await using daemon = await startDaemon({ database, args: ['--keep-changes', '1d'] })
  const plants = Array.from({ length: 1000 }, (_, id) => ({ id, name: 'a'.repeat(100) }))
  await daemon.fetch('/plants/batch', { json: { plants } })
  Bun.spawnSync(['mkfifo', pipe])
  const args = [...program, 'changes', ...words, '--database', database]
  await using child = startProcess(['sh', '-c', 'exec "$@" > "$0"', pipe, ...args])
  const reader = openSync(pipe, 'r')
  try {
    // More than the pipe holds is still to come.
    readSync(reader, Buffer.alloc(1))
    await Bun.sleep(500)
    using db = new Database(database)
    const [row] = db.query<{ busy: number }, []>('PRAGMA wal_checkpoint(TRUNCATE)').all()
    expect({ ...row, isAlive: child.alive() }).toMatchObject({ busy: 0, isAlive: true })
  } finally {
    closeSync(reader)
  }
})
