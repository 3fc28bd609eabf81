// Every command that writes a file, with everything that its path may name.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { importLines, lines } from '../../harness/commands'
import { PATIENCE_MS, runProgram, startDaemon, temporaryFolder } from '../../harness/daemon'
import { unprivileged } from '../../harness/unprivileged'

setDefaultTimeout(PATIENCE_MS)

const isRoot = process.getuid?.() === 0
const asUser = unprivileged()
// A container may not mount.
const canMount =
  isRoot &&
  Bun.spawnSync(['unshare', '--mount', 'mount', '-t', 'tmpfs', 'x', '/mnt']).exitCode === 0
let folder: ReturnType<typeof temporaryFolder>
let database = ''
const file = (name: string): string => folder.file(name)
const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}\n`

/** The commands, each with a path that it writes. What else they read is complete and valid. */
const writers: Readonly<Record<string, (path: string) => string[]>> = {
  export: (path) => ['export', path, '--format', 'csv', '--database', database],
  'import --refused': (path) => [
    ...['import', file('rows.ndjson'), '--refused', path, '--database', file('imported.db')],
  ],
  backup: (path) => ['backup', path, '--database', database],
  restore: (path) => ['restore', file('backup.db'), '--database', path],
  'token create --output': (path) => [
    ...['token', 'create', 'laptop', '--output', path, '--database', database],
  ],
  'forward --cursor-file': (path) => [
    ...['forward', 'http://127.0.0.1:9/', '--cursor-file', path, '--after', 'now'],
    ...['--secret-file', file('secret'), '--database', database],
  ],
  'import --database': (path) => ['import', file('rows.ndjson'), '--database', path],
  'serve --unix': (path) => ['serve', '--unix', path, '--database', database],
  'serve --database': (path) => ['serve', '--port', '0', '--database', path],
}

const wordsOf = (name: string, path: string): string[] => writers[name]?.(path) ?? []

beforeAll(async () => {
  folder = temporaryFolder()
  database = file('stored.db')
  chmodSync(folder.path, 0o755)
  await using daemon = await startDaemon({ database, args: ['--keep-changes', '1d'] })
  await daemon.create('{"id":1,"name":"Rose"}')
  await daemon.stop()
  await importLines(database, lines(2, 3000))
  await runProgram(['backup', file('backup.db'), '--database', database])
  await Bun.write(file('secret'), secret)
  const refused = Array.from({ length: 3000 }, (_, n) => `{"id":"x${n}","name":"Rose"}\n`)
  await Bun.write(file('rows.ndjson'), `{"id":1,"name":"Rose"}\n${refused.join('')}`)
})

afterAll(() => folder[Symbol.dispose]())

const make = (...words: string[]) => Bun.spawnSync(words).exitCode === 0
/** Never the machine's own /dev/null. */
const makeDevice = (path: string) => make('mknod', path, 'c', '1', '3')

const canMakeDevices = (() => {
  using probe = temporaryFolder()
  return isRoot && makeDevice(probe.file('null'))
})()

/** Paths that are not regular files: a function that makes one, and its name in messages. */
const targets: Readonly<Record<string, readonly [(path: string) => unknown, string]>> = {
  'a pipe': [(path) => make('mkfifo', path), 'not a regular file'],
  'a folder': [(path) => mkdirSync(path), 'a folder'],
  'a link to a folder': [
    (path) => {
      mkdirSync(`${path}.folder`)
      symlinkSync(`${path}.folder`, path)
    },
    'a folder',
  ],
  'a device': [makeDevice, 'not a regular file'],
  'a link to a device': [
    (path) => {
      makeDevice(`${path}.device`)
      symlinkSync(`${path}.device`, path)
    },
    'not a regular file',
  ],
}

describe.each(Object.entries(writers))('%s', (name, words) => {
  for (const [kind, [makeTarget, told]] of Object.entries(targets)) {
    // It writes into a device or a pipe, and replaces neither.
    if (name === 'export' && !kind.includes('folder')) continue
    test.skipIf(kind.includes('device') && !canMakeDevices)(
      `refuses ${kind}, and reads nothing first`,
      async () => {
        using own = temporaryFolder()
        const path = own.file('target')
        makeTarget(path)
        const before = readdirSync(own.path).map((it) => lstatSync(own.file(it)).ino)

        const { out, err, code } = await runProgram(words(path))

        expect({ out, code: code === 1 || code === 2 }).toEqual({ out: '', code: true })
        expect(err).toMatch(
          new RegExp(
            `^plantstore: .*target(\\.\\w+)? (is ${told}; [^\n]+|already exists; [^\n]+|exists, and is not a socket)\n$`,
          ),
        )
        expect(readdirSync(own.path).map((it) => lstatSync(own.file(it)).ino)).toEqual(before)
        expect(existsSync(file('imported.db'))).toBeFalse()
      },
    )
  }
})

test.skipIf(!canMakeDevices)('an export into a device leaves the device', async () => {
  using own = temporaryFolder()
  makeDevice(own.file('null'))

  const { err, code } = await runProgram(wordsOf('export', own.file('null')))

  expect({ err, code }).toEqual({ err: 'exported 2999 plants\n', code: 0 })
  expect(lstatSync(own.file('null')).isCharacterDevice()).toBeTrue()
})

/** The commands that replace or make a file, rather than a database. */
const ofFiles = [
  'export',
  'import --refused',
  'backup',
  'token create --output',
  'forward --cursor-file',
] as const
const replacing = ['export', 'import --refused', 'forward --cursor-file'] as const

describe.each(ofFiles)('%s', (name) => {
  test('refuses a path in /proc, and standard output by its name', async () => {
    // An export writes to standard output.
    const paths = [
      '/proc/self/comm',
      '/proc/new',
      ...(name === 'export' ? [] : ['/dev/stdout', '/dev/fd/1']),
    ]
    for (const path of paths) {
      const { out, err, code } = await runProgram(wordsOf(name, path))
      expect({ path, out, failed: code === 1 || code === 2 }).toEqual({
        path,
        out: '',
        failed: true,
      })
      expect(err).toMatch(/^plantstore: [^\n]*\n$/)
      expect(err).toContain('/')
      expect(err).not.toMatch(/ENOENT|EACCES|mkdtemp|rename/)
    }
  })

  test('refuses a path below a file', async () => {
    const { out, err, code } = await runProgram(wordsOf(name, `${file('secret')}/new`))

    const told = `plantstore: cannot write ${file('secret')}/new: not a folder\n`
    expect({ out, err, code }).toEqual({ out: '', err: told, code: 1 })
  })

  test('refuses a folder that this user cannot write', async () => {
    using own = temporaryFolder()
    chmodSync(own.path, 0o555)
    await Bun.$`chmod -R a+rX ${folder.path}`.quiet()

    const { out, err, code } = await runProgram(wordsOf(name, own.file('new')), asUser)

    expect({ out, err, code }).toEqual({
      out: '',
      err: `plantstore: cannot write ${own.file('new')}: permission denied\n`,
      code: 1,
    })
    chmodSync(own.path, 0o755)
  })

  test('refuses a file that the command uses otherwise', async () => {
    const files = [database, ...['-wal', '-shm', '-journal'].map((end) => database + end)]
    if (name === 'import --refused') files.splice(0, 9, file('rows.ndjson'), file('imported.db'))
    if (name === 'forward --cursor-file') files.push(file('secret'))
    for (const path of files) {
      const before = existsSync(path) ? readFileSync(path).toString('hex') : null
      const { err, code } = await runProgram(wordsOf(name, path))
      expect({ path, code, err }).toEqual({
        path,
        code: 2,
        err: expect.stringContaining(`${path} is in use by this command; `),
      })
      expect(existsSync(path) ? readFileSync(path).toString('hex') : null).toBe(before)
    }
  })
})

test
  .skipIf(!isRoot)
  .each(replacing.flatMap((name) => [[name, 0, asUser] as const, [name, 65_534, {}] as const]))(
  '%s refuses a file of user %d in a shared folder',
  async (name, owner, options) => {
    using own = temporaryFolder()
    const path = own.file('theirs')
    chmodSync(own.path, 0o1777)
    await Bun.write(path, 'old')
    chownSync(path, owner, owner)
    await Bun.$`chmod -R a+rX ${folder.path}`.quiet()

    const { err, code } = await runProgram(wordsOf(name, path), options)

    const told = `plantstore: ${path} belongs to user ${owner}, in a shared folder; name another file\n`
    expect({ code, err }).toEqual({ code: 1, err: told })
    expect(readFileSync(path, 'utf8')).toBe('old')
  },
)

test.skipIf(!isRoot)('a link of the owner of a shared folder is followed', async () => {
  using own = temporaryFolder()
  chmodSync(own.path, 0o1777)
  symlinkSync(own.file('new'), own.file('link'))
  await Bun.$`chmod -R a+rX ${folder.path}`.quiet()

  const { err } = await runProgram(wordsOf('export', own.file('link')), asUser)

  expect(err).toBe('exported 2999 plants\n')
  expect(readdirSync(own.path).sort()).toEqual(['link', 'new'])
})

test('import --refused does not replace the file that the shell has opened', async () => {
  using own = temporaryFolder()

  const result = await runProgram(wordsOf('import --refused', '/dev/stdout'), {
    under: ['sh', '-c', 'exec "$@" > "$0"', own.file('opened')],
  })

  expect(result).toEqual({
    out: '',
    err: 'plantstore: /dev/stdout is not a regular file; name a file; see "plantstore import --help"\n',
    code: 2,
  })
  expect(statSync(own.file('opened')).size).toBe(0)
})

test.each(replacing.slice(0, 2))(
  '%s replaces the file behind a link, or makes it',
  async (name) => {
    using own = temporaryFolder()
    await Bun.write(own.file('old'), 'old')
    symlinkSync(own.file('old'), own.file('link'))
    symlinkSync(own.file('new'), own.file('dangling'))

    for (const [link, behind] of [
      ['link', 'old'],
      ['dangling', 'new'],
    ] as const) {
      const { err } = await runProgram(wordsOf(name, own.file(link)))
      expect(err).not.toContain('plantstore: ')
      expect(lstatSync(own.file(link)).isSymbolicLink()).toBeTrue()
      expect(statSync(own.file(behind)).size).toBeGreaterThan(1000)
    }
    expect(readdirSync(own.path).sort()).toEqual(['dangling', 'link', 'new', 'old'])
  },
)

// Runs a command in a full file system, which ends with it: $0 is the folder, with the file "old". Prints what is left.
const FULL_DISK = `
  mount -t tmpfs -o size=64k tmpfs "$0" && cd "$0" || exit 99
  [ -z "$OLD" ] || printf old > target
  head -c "$FILLED" /dev/zero > filler
  "$@"; code=$?
  rm filler; echo "left: $(ls -A | tr '\\n' ' ')$(cat target 2> /dev/null)"
  exit $code`

test
  .skipIf(!canMount)
  .each([
    ['export', 'old'] as const,
    ['import --refused', 'old'] as const,
    ['forward --cursor-file', ''] as const,
    ['backup', ''] as const,
    ['restore', ''] as const,
    ['token create --output', ''] as const,
  ])('on a full disk, %s leaves what was there, says so and ends with 74', async (name, old) => {
  using own = temporaryFolder()
  // Short files are stopped only by a disk without any space.
  const isShort = name.includes('token') || name.includes('cursor')
  const filled = isShort ? '65536' : '52000'
  const under = ['unshare', '--mount', 'sh', '-c', FULL_DISK, own.path]

  const { out, err, code } = await runProgram(wordsOf(name, 'target'), {
    under,
    env: { OLD: old, FILLED: filled },
  })

  expect({ code, err }).toEqual({
    code: 74,
    err: expect.stringMatching(/plantstore: cannot write [^\n]*target: disk full/),
  })
  expect(out).toEndWith(old ? 'left: target old\n' : 'left: \n')
  expect(err).not.toContain('refused rows saved')
})

test('a backup cannot be restored over itself', async () => {
  using own = temporaryFolder()
  copyFileSync(file('backup.db'), own.file('plants.db'))
  symlinkSync(own.file('plants.db'), own.file('link.db'))

  for (const name of ['plants.db', 'link.db']) {
    const words = ['restore', own.file(name), '--database', own.file('plants.db')]
    const { out, err, code } = await runProgram(words)

    const told = `plantstore: ${own.file(name)} is the database itself; name a backup`
    expect({ out, err, code }).toEqual({
      out: '',
      err: expect.stringContaining(`${told}; `),
      code: 2,
    })
  }
  expect(readdirSync(own.path).sort()).toEqual(['link.db', 'plants.db'])
})

test.skipIf(!isRoot)(
  'import reads standard input in a folder that its user may not enter',
  async () => {
    using closed = temporaryFolder()
    using open = temporaryFolder()
    chmodSync(open.path, 0o777)
    const words = ['import', '-', '--format', 'ndjson', '--database', open.file('plants.db')]
    const stdin = '{"id":1,"name":"Rose"}\n'

    const { code, err } = await runProgram(words, { ...asUser, cwd: closed.path, stdin })

    expect(err).not.toContain('EACCES')
    expect(code).toBe(0)
  },
)
