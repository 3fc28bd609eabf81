import { Database } from 'bun:sqlite'
import { expect, setDefaultTimeout, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import * as libc from '../../../src/files/libc'
import {
  check,
  expectSound,
  fingerprint,
  importLines,
  lines,
  refusalOf,
  storeFolder,
} from '../../harness/commands'
import { PATIENCE_MS, runProgram, startDaemon } from '../../harness/daemon'
import { until } from '../../harness/until'

setDefaultTimeout(PATIENCE_MS)

const isRoot = process.getuid?.() === 0

const restore = (copy: string, database: string) =>
  runProgram(['restore', copy, '--database', database])

const keptAs = (out: string) => /kept as (.+)\n/.exec(out)?.[1] ?? ''

type Folder = ReturnType<typeof storeFolder>

/** A database of 10 plants, and a backup of it. */
async function makeBackup(folder: Folder) {
  const { database } = folder
  const copy = folder.file('copy.db')
  await folder.fill(10)
  await folder.run(['backup', copy])
  return { database, copy }
}

test('restore installs a backup, and keeps the replaced database', async () => {
  using folder = storeFolder()
  const { database, copy } = await makeBackup(folder)
  await importLines(database, lines(10, 15))

  const { out, code } = await restore(copy, database)

  expect(code).toBe(0)
  const kept = keptAs(out)
  await expectSound(kept, 15)
  const before = fingerprint(folder.path)[basename(kept)]
  await importLines(database, lines(100, 200))
  await check(kept)
  await expectSound(database, 110)
  expect([statSync(kept).nlink, statSync(database).nlink]).toEqual([1, 1])
  expect(statSync(kept).ino).not.toBe(statSync(database).ino)
  expect(fingerprint(folder.path)[basename(kept)]).toBe(before as string)
})

test('restore prints the absolute path, and whether the database is new', async () => {
  using folder = storeFolder()
  const { copy } = await makeBackup(folder)
  const options = { cwd: realpathSync(folder.path) }
  const path = join(options.cwd, 'other.db')

  const first = await runProgram(['restore', copy, '--database', 'other.db'], options)
  expect(first.out).toBe(`restored 10 plants to ${path}, a new database\n`)
  const second = await runProgram(['restore', copy, '--database', 'other.db'], options)
  expect(second.out).toStartWith(
    `restored 10 plants to ${path}\nprevious database kept as ${path}.`,
  )
})

test('the new name may look like the journal of a folder', async () => {
  using folder = storeFolder()
  const { copy } = await makeBackup(folder)
  mkdirSync(folder.file('garden'))

  expect((await restore(copy, folder.file('garden-journal'))).code).toBe(0)
})

const canTrace = Bun.which('strace') !== null

/** The renames and links of a trace whose file, or an earlier change of names, is not on disk by then; or not at the end. */
function looseSteps(trace: string, folder: string): string[] {
  const unsynced = new Set<string>()
  const loose: string[] = []
  for (const line of trace.split('\n').filter((line) => line.includes(folder))) {
    const [, call = '', opened = ''] = /^\d+ +(\w+)\((?:\d+<([^>]+)>)?/.exec(line) ?? []
    if (/sync$/.test(call)) unsynced.delete(opened)
    else if (/write/.test(call)) unsynced.add(opened)
    else if (/^(rename|link)/.test(call) || line.includes('/plants.db-wal"')) {
      const [, source = ''] = /"([^"]+)"/.exec(line) ?? []
      // A name that no program opens needs no earlier step.
      const isOrdered = /\/plants\.db(-\w+)?"/.test(line)
      if (unsynced.has(source) || (isOrdered && unsynced.has(folder))) loose.push(line)
      unsynced.add(folder)
    }
  }
  return unsynced.has(folder) ? [...loose, 'the end'] : loose
}

const withLog = (database: string) => writeFileSync(`${database}-wal`, 'x'.repeat(40))

test.skipIf(!canTrace).each<[string, (database: string) => void]>([
  ['a database', () => {}],
  [
    'a damaged database and its log',
    (database) => {
      writeFileSync(database, 'no longer a database')
      withLog(database)
    },
  ],
  [
    'a log alone',
    (database) => {
      rmSync(database)
      withLog(database)
    },
  ],
  ['nothing', (database) => rmSync(database)],
])('each step of a restore that replaces %s is on disk before the next', async (_, change) => {
  using folder = storeFolder()
  const { database, copy } = await makeBackup(folder)
  await token(database, 'create', 'newer')
  change(database)
  const log = folder.file('trace')
  const calls = 'trace=write,pwrite64,fsync,fdatasync,rename,renameat,link,linkat,unlink'

  const { code } = await folder.run(['restore', copy], {
    under: ['strace', '-f', '-y', '-qq', '-o', log, '-e', calls],
  })

  const trace = readFileSync(log, 'utf8')
  expect(code).toBe(0)
  expect(trace).toMatch(/ (write|pwrite64)\(.* fsync\(.* (rename|link)/s)
  expect(looseSteps(trace, realpathSync(folder.path))).toEqual([])
})

test('restore refuses to replace a database that another program reads', async () => {
  using folder = storeFolder()
  const { database, copy } = await makeBackup(folder)
  const daemon = await folder.serve()
  await daemon.create(50, 'in the log')
  await daemon.stop('SIGKILL')
  const reader = new Database(database, { readwrite: true, create: false })
  reader.run('BEGIN')
  reader.query('SELECT count(*) FROM plants').get()

  const result = await restore(copy, database)
  reader.run('COMMIT')
  reader.close(true)

  expect(refusalOf(result)).toMatch(/plants\.db is ./)
  await expectSound(database, 11)
  expect(readdirSync(folder.path).sort()).toEqual(['copy.db', 'plants.db'])
})

test('restore refuses to replace a damaged database that another program has open', async () => {
  using folder = storeFolder()
  const { database, copy } = await makeBackup(folder)
  const reader = new Database(database, { readwrite: true, create: false })
  reader.query('SELECT count(*) FROM plants').get()
  // By another process: closing the file in this one would drop the locks of its reader.
  Bun.spawnSync(['dd', 'if=/dev/zero', `of=${database}`, 'bs=100', 'count=1', 'conv=notrunc'])

  const result = await restore(copy, database)
  reader.close()

  expect(refusalOf(result)).toBe(`${realpathSync(database)} is locked by another program`)
  expect(readdirSync(folder.path).filter((name) => name.includes('.replaced-'))).toEqual([])
  expect(readFileSync(database).subarray(0, 100)).toEqual(Buffer.alloc(100))
})

test.each([10, 0])(
  'restore replaces the target of a link that has %d plants, and keeps the link',
  async (plants) => {
    using folder = storeFolder()
    const { copy } = await makeBackup(folder)
    const link = folder.file('link.db')
    mkdirSync(folder.file('data'))
    symlinkSync('data/plants.db', link)
    // Without plants it is missing.
    if (plants > 0) await importLines(link, lines(0, plants))

    expect((await restore(copy, link)).code).toBe(0)
    expect(lstatSync(link).isSymbolicLink()).toBeTrue()
    await expectSound(link, 10)
    expect(readdirSync(folder.file('data'))).toHaveLength(plants > 0 ? 2 : 1)
  },
)

test.skipIf(!isRoot)('a restored database has the owner and mode of the old one', async () => {
  using folder = storeFolder()
  const { database, copy } = await makeBackup(folder)
  const owner = { uid: 65_534, gid: 65_533 }
  chownSync(database, owner.uid, owner.gid)
  chmodSync(database, 0o640)

  const { code } = await restore(copy, database)

  const { mode, uid, gid } = statSync(database)
  expect({ code, mode: mode & 0o777, uid, gid }).toEqual({ code: 0, mode: 0o640, ...owner })
})

test('restore refuses to replace a database that a daemon serves', async () => {
  using folder = storeFolder()
  const { database } = folder
  await folder.fill(3)
  await folder.run(['backup', folder.file('copy.db')])
  await using daemon = await folder.serve()

  expect(refusalOf(await restore(folder.file('copy.db'), database))).toContain(
    'another plantstore serves',
  )
  expect((await daemon.create(100, 'still here')).status).toBe(200)
})

test.skipIf(!canTrace)('no other process makes a database while a restore does', async () => {
  using folder = storeFolder()
  const { database, copy } = await makeBackup(folder)
  rmSync(database)
  const under = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=fsync']
  const delay = ['-e', 'inject=fsync:delay_enter=5000000:when=1']
  const restoring = folder.run(['restore', copy], { under: [...under, ...delay] })
  const isCopied = () =>
    readdirSync(folder.path, { recursive: true }).join().includes('restored.db')
  await until('the copy', isCopied)

  const importing = importLines(database, lines(20, 25))
  const refused = await folder.run(['serve', '--port', '0'])
  expect(refusalOf(refused)).toStartWith('another plantstore serves')
  expect(refusalOf(await importing)).toEndWith('was just replaced; try again')
  expect((await restoring).code).toBe(0)
  await expectSound(database, 10)
  expect(readdirSync(folder.path).sort()).toEqual(['copy.db', 'plants.db'])
})

test('a restore that fails leaves no database where there was none', async () => {
  using folder = storeFolder()
  writeFileSync(folder.file('copy.db'), 'no database')

  expect(refusalOf(await restore(folder.file('copy.db'), folder.database))).toContain(
    'is not a plantstore database',
  )
  expect(refusalOf(await restore('none.db', folder.database))).toStartWith('cannot read none.db')
  expect(readdirSync(folder.path)).toEqual(['copy.db'])
})

test.each([
  ['has no header', truncateSync],
  ['is gone', rmSync],
])('restore keeps the log of a database that %s', async (_, change) => {
  using folder = storeFolder()
  const { database, copy } = await makeBackup(folder)
  const daemon = await folder.serve()
  await daemon.create(50, 'in the log')
  await daemon.stop('SIGKILL')
  change(database)
  const size = statSync(`${database}-wal`).size

  const kept = keptAs((await restore(copy, database)).out)

  expect(statSync(`${kept}-wal`).size).toBe(size)
  await expectSound(database, 10)
  expect(readdirSync(folder.path).filter((name) => /^plants\.db-/.test(name))).toEqual([])
})

test('serve refuses an interrupted restore, which a second run completes', async () => {
  using folder = storeFolder()
  const { database, copy } = await makeBackup(folder)
  const kept = `${database}.replaced-then`
  linkSync(database, kept)

  for (const words of [['serve', '--port', '0'], ['check'], ['export'], ['backup', `${copy}2`]]) {
    expect(refusalOf(await folder.run([...words]))).toMatch(
      /^.+ has several names .+; run an interrupted restore again.+$/,
    )
  }
  const { out, code } = await restore(copy, database)

  const name = basename(keptAs(out))
  const { ino } = statSync(kept)
  expect({ code, ino: statSync(folder.file(name)).ino }).toEqual({ code: 0, ino })
  await expectSound(database, 10)
  expect(readdirSync(folder.path)).toHaveLength(4)
})

test.skipIf(!isRoot)('a new database belongs to the owner of its folder', async () => {
  using folder = storeFolder()
  const { copy } = await makeBackup(folder)
  mkdirSync(folder.file('data'))
  chownSync(folder.file('data'), 65_534, 65_534)

  await restore(copy, folder.file('data/plants.db'))

  const { uid, gid, mode } = statSync(folder.file('data/plants.db'))
  expect({ uid, gid, mode: mode & 0o777 }).toEqual({ uid: 65_534, gid: 65_534, mode: 0o600 })
})

test.each(['serve', 'restore'])(
  '%s removes only what a killed process has left',
  async (command) => {
    using folder = storeFolder()
    const { copy } = await makeBackup(folder)
    const names = ['.plantstore-tmp-killed', '.plantstore-tmp-used', '.plantstore-backups']
    for (const name of names) {
      mkdirSync(folder.file(name))
      writeFileSync(folder.file(`${name}/made`), 'half')
    }
    const used = openSync(folder.file('.plantstore-tmp-used'), 'r')
    expect(libc.tryLock(used)).toBeTrue()

    if (command === 'serve') await (await folder.serve()).stop()
    else await folder.run(['restore', copy])

    expect(names.map((name) => existsSync(folder.file(`${name}/made`)))).toEqual([
      false,
      true,
      true,
    ])
    closeSync(used)
  },
)

test.each([
  ['/tmp', 'a folder'],
  ['/dev/null', 'not a regular file'],
])('the message for the backup %s does not blame an option', async (path, kind) => {
  using folder = storeFolder()

  expect(refusalOf(await restore(path, folder.database), 2)).toBe(
    `${path} is ${kind}; name a file; see "plantstore restore --help"`,
  )
  expect(existsSync(folder.database)).toBeFalse()
})

/** Runs `token` on a database; returns what it prints to standard output, without the end of its line. */
async function token(database: string, ...words: string[]): Promise<string> {
  const { out, code, err } = await runProgram(['token', ...words, '--database', database])
  expect({ words, code, err: code === 0 ? '' : err }).toEqual({ words, code: 0, err: '' })
  return out.trimEnd()
}

/** A backup with the valid tokens "leaked", "pruned" and "laptop", an expired and a revoked one; and their texts. */
async function makeTokens(folder: Folder) {
  const { database } = await makeBackup(folder)
  const copy = folder.file('tokens.db')
  const texts: Record<string, string> = {}
  for (const name of ['leaked', 'pruned', 'laptop', 'revoked']) {
    texts[name] = await token(database, 'create', name)
  }
  await token(database, 'create', 'expired', '--expires', '90d')
  await token(database, 'revoke', 'revoked')
  const db = new Database(database)
  db.run("UPDATE tokens SET expires_at = 1 WHERE name = 'expired'")
  db.close(true)
  await runProgram(['backup', copy, '--database', database])
  return { database, copy, texts }
}

/** Overwrites the page of a database that has its tokens. */
function damageTokens(database: string): void {
  const db = new Database(database)
  const find = db.query<{ page: number; size: number }, []>(
    "SELECT rootpage AS page, page_size AS size FROM sqlite_schema, pragma_page_size WHERE name = 'tokens'",
  )
  const { page, size } = find.get() ?? { page: 0, size: 0 }
  db.close(true)
  const fd = openSync(database, 'r+')
  writeSync(fd, Buffer.alloc(size, 0xff), 0, size, (page - 1) * size)
  closeSync(fd)
}

/** The status of a list of plants with each token. */
async function statuses(database: string, texts: Record<string, string>) {
  await using daemon = await startDaemon({ database })
  const found = Object.entries(texts).map(async ([name, text]) => {
    const response = await daemon.fetch('/plants', { headers: { authorization: `Bearer ${text}` } })
    return [name, response.status]
  })
  return Object.fromEntries(await Promise.all(found))
}

test('restore keeps the tokens of the database that it replaces', async () => {
  using folder = storeFolder()
  const { database, copy, texts } = await makeTokens(folder)
  await token(database, 'revoke', 'pruned')
  await token(database, 'prune')
  await token(database, 'revoke', 'leaked')
  texts.newer = await token(database, 'create', 'newer')

  const { out, code } = await restore(copy, database)

  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringMatching(/\ntokens are those of the previous database\n$/),
  })
  const expected = { leaked: 401, pruned: 401, revoked: 401, laptop: 200, newer: 200 }
  expect(await statuses(database, texts)).toEqual(expected)

  // Back again.
  expect((await restore(keptAs(out), database)).code).toBe(0)
  expect(await statuses(database, texts)).toEqual(expected)
})

test.each([
  ['is gone', (database: string) => rmSync(database)],
  ['is empty', (database: string) => truncateSync(database)],
  ['has a damaged page', damageTokens],
  ['is no database', (database: string) => writeFileSync(database, 'no longer a database')],
  [
    'is of another store',
    async (database: string) => {
      rmSync(database)
      await importLines(database, lines(0, 1))
      await token(database, 'create', 'laptop')
    },
  ],
])('restore lists the tokens to review if the old database %s', async (_, interfere) => {
  using folder = storeFolder()
  const { database, copy, texts } = await makeTokens(folder)
  await token(database, 'revoke', 'leaked')
  await interfere(database)

  const { out, code } = await restore(copy, database)

  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringMatching(
      /\ntokens are those of the backup; .+, revoke it again: laptop, leaked, pruned\n$/,
    ),
  })
  expect(await statuses(database, texts)).toMatchObject({ laptop: 200, revoked: 401 })
})
