import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readDatabase } from '../../../src/engine/sqlite/snapshot'
import { check, fingerprint, importLines, lines, storeFolder } from '../../harness/commands'
import { runProgram, startDaemon, startTemporary, temporaryFolder } from '../../harness/daemon'
import { testUid, unprivileged, unprivilegedUid } from '../../harness/unprivileged'

const PLANTS = 2000
const asNobody = unprivileged()

async function killDaemon(database: string): Promise<void> {
  const daemon = await startDaemon({ database })
  await daemon.create(`{"id":${PLANTS},"name":"in the WAL"}`)
  await daemon.stop('SIGKILL')
}

// Each makes a state of a database of PLANTS plants; returns the plants that it has then.
const states: Record<string, (database: string) => Promise<number>> = {
  'that was closed': async () => PLANTS,
  'that was closed, beside what a start on a full disk has left': async (database) => {
    writeFileSync(`${database}-wal`, '')
    writeFileSync(`${database}-shm`, '\0\0\0')
    return PLANTS
  },
  'that a crash has left': async (database) => {
    await killDaemon(database)
    return PLANTS + 1
  },
  'that a crash has left without the index of its log': async (database) => {
    await killDaemon(database)
    rmSync(`${database}-shm`)
    return PLANTS + 1
  },
}

const users = testUid === 0 ? (['root', 'nobody'] as const) : (['this user'] as const)
const cases = Object.keys(states)
  .flatMap((state) => users.map((user) => [state, user] as const))
  // Only who can write makes an index: see below.
  .filter(([state, user]) => user !== 'nobody' || !state.includes('without the index'))

/** The files of a folder but for the index of a write-ahead log, which a reader may make. */
function withoutIndex(store: string) {
  const { 'plants.db-shm': _, '.': __, ...files } = fingerprint(store)
  return files
}

test.each(cases)(
  'a reading command changes nothing of a database %s, as %s',
  async (state, user) => {
    using folder = temporaryFolder()
    const store = folder.file('store')
    const copies = folder.file('copies')
    mkdirSync(store)
    mkdirSync(copies)
    const database = join(store, 'plants.db')
    await importLines(database, lines(0, PLANTS))
    const plants = (await states[state]?.(database)) ?? 0
    if (user === 'nobody') {
      // It can read, and not write; nor read the folder of a test that is root's.
      for (const name of readdirSync(store)) chmodSync(join(store, name), 0o444)
      chmodSync(folder.path, 0o755)
      chmodSync(store, 0o555)
      chmodSync(copies, 0o777)
    }
    const options = user === 'nobody' ? asNobody : {}
    const before = withoutIndex(store)

    const run = (...words: string[]) => runProgram([...words, '--database', database], options)
    const checked = await run('check')
    const exported = await run('export')
    const tokens = await run('token', 'list')
    const changes = await run('changes')
    const toFile = await run('export', join(copies, 'plants.csv'))
    const backup = await run('backup', join(copies, 'copy.db'))

    for (const { code, err } of [checked, exported, tokens, toFile, backup]) {
      expect({ code, err }).toEqual({ code: 0, err: expect.not.stringContaining('plantstore:') })
    }
    expect(changes).toEqual({
      out: '',
      err: expect.stringContaining('no change log is kept'),
      code: 1,
    })
    expect(checked.out).toStartWith(`ok: ${plants} plants`)
    expect(exported.out.split('\n')).toHaveLength(plants + 1)
    expect(toFile.err).toBe(`exported ${plants} plants\n`)
    expect(backup.out).toStartWith(`backed up ${plants} plants`)
    expect(withoutIndex(store)).toEqual(before)
    expect(readdirSync(copies).sort()).toEqual(['copy.db', 'plants.csv'])
  },
)

test('a reading command refuses the log of a crash where it cannot write, instead of reading an old state', async () => {
  using folder = temporaryFolder()
  const store = folder.file('store')
  mkdirSync(store)
  const database = join(store, 'plants.db')
  await importLines(database, lines(0, PLANTS))
  await states['that a crash has left without the index of its log']?.(database)
  for (const name of readdirSync(store)) chmodSync(join(store, name), 0o444)
  chmodSync(folder.path, 0o755)
  chmodSync(store, 0o555)
  const before = fingerprint(store)

  for (const words of [['check'], ['export'], ['token', 'list'], ['changes']]) {
    const { out, err, code } = await runProgram([...words, '--database', database], asNobody)
    expect({ words, out, code }).toEqual({ words, out: '', code: 1 })
    expect(err).toBe(
      `plantstore: cannot read ${database}-wal, or it has changes that a crash has left, and nothing may be written here; copy both files to another folder, and read the copy\n`,
    )
  }
  expect(fingerprint(store)).toEqual(before)
})

test('a reading command beside a daemon leaves the WAL as it is', async () => {
  await using daemon = await startTemporary()
  const { database, folder } = daemon
  await daemon.create('{"id":1,"name":"a"}')
  const before = withoutIndex(folder.path)

  const checked = await runProgram(['check', '--database', database])
  const exported = await runProgram(['export', '--database', database])

  expect(checked.out).toStartWith('ok: 1 plant')
  expect(exported.out).toBe('{"id":1,"name":"a"}\n')
  expect(withoutIndex(folder.path)).toEqual(before)
  expect((await daemon.create('{"id":2,"name":"b"}')).status).toBe(200)
  expect(await daemon.stop()).toBe(0)
  expect(readdirSync(folder.path).sort()).toEqual(['plants.db'])
})

test('a daemon starts and writes while an export runs', async () => {
  using folder = storeFolder()
  await folder.fill(30_000)
  const under = ['bash', '-c', '"$0" "$@" | { sleep 1; cat; }']

  const exporting = folder.run(['export'], { under })
  await Bun.sleep(300)
  await using daemon = await folder.serve()
  for (let id = 100_000; id < 100_100; id++) await daemon.create(`{"id":${id},"name":"new"}`)
  const { out, code } = await exporting

  const ids = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).id)
  expect(code).toBe(0)
  expect(ids.filter((id) => id < 100_000)).toHaveLength(30_000)
  expect(readdirSync(folder.path).filter((name) => name.startsWith('.'))).toEqual([])
})

test('a closed database is read again if another process wrote to it meanwhile', async () => {
  using folder = storeFolder()
  const { database } = folder
  await folder.fill(10)
  let reads = 0

  const plants = await readDatabase(database, async (db) => {
    reads += 1
    const count = () => db.query<{ n: bigint }, []>('SELECT count(*) AS n FROM plants').get()?.n
    const before = count()
    if (reads === 1) await importLines(database, lines(10, 500))
    return before
  })

  expect({ reads, plants }).toEqual({ reads: 2, plants: 500n })
  expect(readdirSync(folder.path)).toEqual(['plants.db'])
})

test('a check waits for a connection that closes the database slowly', async () => {
  using folder = storeFolder()
  const { database } = folder
  await folder.fill(10)
  // As the last connection does while it copies the WAL, which it then removes.
  const closing = new Database(database)
  closing.query('SELECT count(*) FROM plants').get()
  closing.run('PRAGMA locking_mode = EXCLUSIVE')
  closing.run('UPDATE plants SET tag = NULL WHERE id = 1')

  const checked = check(database)
  await Bun.sleep(1500)
  closing.close(true)

  expect(await checked).toMatchObject({ code: 0, err: '' })
})

test('a reading command refuses a database of a newer schema, and changes nothing', async () => {
  using folder = storeFolder()
  await folder.fill(10)
  folder.edit('PRAGMA user_version = 99')
  const before = fingerprint(folder.path)

  for (const words of [
    ['check'],
    ['export'],
    ['token', 'list'],
    ['changes'],
    ['backup', folder.file('copy.db')],
  ]) {
    const { out, err, code } = await folder.run(words)
    expect({ out, code }).toEqual({ out: '', code: 1 })
    expect(err.split('\n')).toHaveLength(2)
  }
  expect(existsSync(folder.file('copy.db'))).toBeFalse()
  expect(fingerprint(folder.path)['plants.db']).toBe(before['plants.db'] as string)
})

test('a reading command says which file it cannot read, and as which user', async () => {
  using folder = storeFolder()
  const { database } = folder
  await folder.fill(10)
  chmodSync(folder.path, 0o755)
  chmodSync(database, 0)

  const { err, code } = await folder.run(['check'], asNobody)

  expect(code).toBe(1)
  expect(err).toBe(
    `plantstore: cannot read ${database}: user ${unprivilegedUid} needs access to it, to its -wal and to its folder; check permissions, ReadWritePaths= and "ulimit -n"\n`,
  )
})
