import { expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { hostname } from 'node:os'
import { type DatabaseSecrets, withoutPassword } from '../../src/engine/database-url'
import { engineOf } from '../../src/engine/engine'
import { addressOf, parsePostgresUrl } from '../../src/engine/postgres/connection/url'
import { UsageError } from '../../src/errors'
import { refusalOf } from '../harness/commands'
import { PATIENCE_MS, runProgram, temporaryFolder } from '../harness/daemon'

setDefaultTimeout(PATIENCE_MS)

const none: DatabaseSecrets = { databasePassword: null, databasePasswordFile: null }
const parse = (url: string) => parsePostgresUrl(url, none)

/** The message of what is thrown for a URL. */
function refusal(url: string, secrets: DatabaseSecrets = none): string {
  try {
    parsePostgresUrl(url, secrets)
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError)
    return error instanceof Error ? error.message : ''
  }
  return 'accepted'
}

test.each([
  ['postgres://u@db.example/n', ['db.example:5432']],
  ['postgresql://u@h:5433/n', ['h:5433']],
  ['postgres://u@h1:1,h2,[::1]:3/n', ['h1:1', 'h2:5432', '[::1]:3']],
  ['postgres://u@/n?host=/run/postgresql', ['/run/postgresql/.s.PGSQL.5432']],
  ['postgres://u@%2Frun%2Fpostgresql:5433/n', ['/run/postgresql/.s.PGSQL.5433']],
  ['postgres://u@/n?host=a,b&port=1', ['a:1', 'b:1']],
  ['postgres://u@/n?host=a,b&port=1,2', ['a:1', 'b:2']],
  ['postgres://u@h/n?target_session_attrs=read-write', ['h:5432']],
])('the URL of a server names its hosts: %s', (url, hosts) => {
  expect(parse(url).hosts.map(addressOf)).toEqual(hosts)
})

test.each([
  ['127.0.0.1', 'disable'],
  ['localhost', 'disable'],
  ['[::1]', 'disable'],
  ['%2Frun', 'disable'],
  ['10.0.0.1', 'verify-full'],
  ['localhost.example', 'verify-full'],
  ['127.0.0.1.example', 'verify-full'],
  ['localhost,db.example', 'verify-full'],
])(
  'the URL of a server is encrypted and verified unless it stays on this machine: %s',
  (host, mode) => {
    expect<string>(parse(`postgres://u@${host}/n`).sslmode).toBe(mode)
  },
)

test.each([
  ['sslmode=disable', 'disable', null],
  ['sslmode=require', 'require', null],
  ['sslmode=require&sslrootcert=/ca.pem', 'verify-ca', '/ca.pem'],
  ['sslmode=verify-ca&sslrootcert=/ca.pem', 'verify-ca', '/ca.pem'],
  ['sslrootcert=%2Fca.pem', 'verify-full', '/ca.pem'],
  ['sslrootcert=system', 'verify-full', null],
])('the URL of a server determines how it is verified: %s', (query, sslmode, caFile) => {
  expect(parse(`postgres://u@db.example/n?${query}`)).toMatchObject({ sslmode, caFile })
})

test('the URL of a server is accepted in the forms that hosting providers print', () => {
  const sent = 'channel_binding=prefer&keepalives=1&keepalives_idle=30&tcp_user_timeout=9000'
  expect(
    parse(`postgres://u@h/n?${sent}&application_name=shop&options=-c%20work_mem%3D8MB`),
  ).toMatchObject({
    client: null,
    startup: {
      application_name: 'shop',
      options: '-c work_mem=8MB',
      tcp_keepalives_idle: '30',
      tcp_user_timeout: '9000',
    },
  })
  expect(parse('postgres://u@h/n?sslcert=/c.pem&sslkey=/k.pem')).toMatchObject({
    startup: { application_name: `plantstore@${hostname()}` },
    client: { certFile: '/c.pem', keyFile: '/k.pem' },
  })
  expect(parse('postgres://u@localhost/n?sslmode=prefer').sslmode).toBe('disable')
  expect(parse('postgres://u@h/n?sslmode=prefer').sslmode).toBe('verify-full')
})

test('the URL of a server is decoded in each part', () => {
  expect(parse('postgres://a%40b:p%2Fw%3F@h/n%20m?search_path=a%2C%20b')).toMatchObject({
    user: 'a@b',
    database: 'n m',
    startup: { search_path: 'a, b' },
    prepare: true,
    connectMs: 5000,
  })
})

test.each([
  ['postgres://u@h', 'must look like'],
  ['postgres://u@h/n?prepare=false&keepalives_idle=9', 'a pooler drops keepalives_idle'],
  ['postgres://u@h/n?prepare=false&search_path=x', 'a pooler drops search_path'],
  ['postgres://u@h/n?keepalives=0', 'keepalives must be 1'],
  ['postgres://u@h/n?keepalives_count=0', 'keepalives_count must be a whole number above 0'],
  ['postgres://u@h/n?tcp_user_timeout=5s', 'tcp_user_timeout must be a whole number above 0'],
  ['postgres://u@h/', 'must look like'],
  ['postgres://u@h/a/b', 'must look like'],
  ['postgres://u@h/n#x', 'must look like'],
  ['postgres://u@h/%zz', 'must look like'],
  ['postgres://u@h/n%00', 'must look like'],
  ['postgres://u@[h]/n', 'must look like'],
  ['postgres://u@a,,b/n', 'must look like'],
  ['postgres://u@h/n?prepare=true&prepare=false', 'must look like'],
  ['postgres://h/n', 'names no user'],
  ['postgres://u@/n', 'must name its hosts once'],
  ['postgres://u@h/n?host=x', 'must name its hosts once'],
  ['postgres://u@/n?host=a,b,c&port=1,2', 'one port'],
  ['postgres://u@h:0/n', 'a port must be'],
  ['postgres://u@h:x/n', 'a port must be'],
  ['postgres://u@h/n?sslmode=on', 'sslmode must be disable or require or verify-ca or'],
  ['postgres://u@h/n?channel_binding=require', 'channel_binding must be disable or prefer'],
  ['postgres://u@h/n?sslcert=x', 'sslcert needs sslkey'],
  ['postgres://u@/n?host=/run&sslkey=x', 'sslkey needs sslmode'],
  ['postgres://u@h/n?sslmode=disable&sslrootcert=x', 'sslrootcert needs'],
  ['postgres://u@h/n?prepare=no', 'prepare must be true or false'],
  ['postgres://u@h/n?connect_timeout=0', 'connect_timeout must be a whole number'],
  ['postgres://u@h/n?target_session_attrs=any', 'target_session_attrs must be'],
  ['postgres://u@h/n?gssencmode=x', 'unsupported parameter gssencmode; supported: host'],
])('the URL of a server is refused in one line: %s', (url, message) => {
  expect(refusal(url)).toContain(message)
  expect(refusal(url)).not.toContain('\n')
})

test.each([
  'postgres://u:geheim@@h/n',
  'postgres://u:geh/eim@h/n',
  'postgres://u:geh?eim=x@h/n',
  'postgres://u:geh#eim@h/n',
  'postgres://u:geh:eim@h/n',
  'postgres://u:geheim@h/n?geheim@=1',
  'postgres://u:geheim@h/n?password=geheim',
  'postgres://u:geheim%@h/n',
  'postgres://u@srv:geheim@h/n',
])('the URL of a server is refused without showing its password: %s', (url) => {
  const message = refusal(url)

  expect(message).not.toBe('accepted')
  expect(message).not.toMatch(/geh|eim/)
})

test.each([
  ['plants.db', 'plants.db'],
  ['a:b@c', 'a:b@c'],
  ['postgres://u@h:1/n?sslrootcert=/x@y', 'postgres://u@h:1/n?sslrootcert=/x@y'],
  ['postgres://u:geheim@h:1/n?prepare=false', 'postgres://u@h:1/n?prepare=false'],
  ['POSTGRES://u:geheim@h/n', 'POSTGRES://u@h/n'],
  ['postgres://u:a/b?c#d@e@h:1/n', 'postgres://u@h:1/n'],
  ['postgres://u@srv:geheim@h/n', 'postgres://u@srv@h/n'],
])('the URL of a server is shown without its password: %s', (database, shown) => {
  expect(withoutPassword(database)).toBe(shown)
})

test.each([
  ['/srv/data/plants.db', 'plants.db'],
  ['postgres://anna:geheim@db.example:5432/garden?sslmode=require', 'garden'],
  ['postgres://anna@a:1,b:2/garden', 'garden'],
  ['postgres://anna:geheim@db.example', ''],
  ['postgres://anna:geheim@db.example/?password=geheim', ''],
])('GET /status names %s without its folder, server and user', (database, name) => {
  expect(engineOf(database).locate(database).baseName).toBe(name)
})

test.each([
  ['host=db dbname=plants password=geheim'],
  ['  dbname = plants'],
  ['service=prod'],
  ['postgres:plants'],
  ['postgresql:/plants'],
  ['jdbc:postgresql://db/plants'],
  ['mysql://db/plants'],
])('a name that looks like a server is refused, and no file is created: %s', async (database) => {
  using folder = temporaryFolder()
  const options = { cwd: folder.path, stdin: '{"id":1,"name":"x"}\n' }
  const words = ['import', '-', '--format', 'ndjson']

  for (const { out, err, code } of [
    await runProgram([...words, `--database=${database}`], options),
    await runProgram(words, { ...options, env: { PLANTSTORE_DATABASE: database } }),
  ]) {
    expect({ out, code }).toEqual({ out: '', code: 2 })
    expect(err).toMatch(/^plantstore: .*looks like a server, but is not postgres:.+\n$/)
    expect(err).not.toContain('geheim')
  }
  expect(readdirSync(folder.path)).toEqual([])
})

test('a name that looks like a server is a file if it begins with ./', async () => {
  using folder = temporaryFolder()
  const words = ['import', '-', '--format', 'ndjson', '--database=./postgres:plants']

  await runProgram(words, { cwd: folder.path, stdin: '{"id":1,"name":"x"}\n' })

  expect(readdirSync(folder.path)).toContain('postgres:plants')
})

test('the password comes from the URL, a file or PGPASSWORD', async () => {
  using folder = temporaryFolder()
  await Bun.write(folder.file('password'), ' geheim \n')
  const file = { databasePassword: 'other', databasePasswordFile: folder.file('password') }

  const passwordOf = (url: string, secrets: DatabaseSecrets) =>
    parsePostgresUrl(url, secrets).readPassword()
  expect(passwordOf('postgres://u:geheim@h/n', none)).toBe('geheim')
  expect(passwordOf('postgres://u:p%2Fw%3F@h/n', none)).toBe('p/w?')
  expect(passwordOf('postgres://u@h/n', none)).toBe('')
  expect(passwordOf('postgres://u@h/n', file)).toBe(' geheim ')
  expect(passwordOf('postgres://u@h/n', { ...none, databasePassword: 'other' })).toBe('other')
  expect(refusal('postgres://u:geheim@h/n', file)).toContain(
    'remove it, or PLANTSTORE_DATABASE_PASSWORD_FILE',
  )
  expect(refusal('postgres://u@h/n', { ...none, databasePasswordFile: '/missing' })).toContain(
    'cannot read PLANTSTORE_DATABASE_PASSWORD_FILE /missing: no such file',
  )
})

test.each([
  [['serve', '--database', 'postgres://u:geheim@h/n']],
  [['check', '--database=postgres://u:geheim@h/n']],
  [['export', '-', '--database', 'postgresql://u@h/n?password=geheim']],
  [['import', 'postgres://u:geheim@h/n']],
  [['frob', 'postgres://u:geheim@h/n']],
  [['postgres://u:geh@eim@h/n']],
  [['serve', '--help', '--database', 'postgres://u:geh/eim@h/n']],
])('a password in a command line is refused: %j', async (args) => {
  const refusal = refusalOf(await runProgram(args), 2)
  expect(refusal).toMatch(/^every user of this machine can see a password .+$/)
  expect(refusal).toContain('PLANTSTORE_DATABASE_PASSWORD_FILE or PGPASSWORD')
  expect(refusal).not.toMatch(/geh|eim/)
})

test.each([
  [['backup', 'x'], 'backup works on a database file; for PostgreSQL use pg_dump, '],
  [['restore', 'x'], 'restore works on a database file; for PostgreSQL use pg_restore, '],
  [['serve', '--backup-folder', 'x'], '--backup-folder works on a database file; for PostgreSQL '],
  [['serve', '--backup-keep', '3'], '--backup-folder works on a database file; for PostgreSQL '],
])('a command that copies a database file refuses a server: %j', async (args, message) => {
  const env = { PLANTSTORE_DATABASE: 'postgres://u:geheim@h/n' }
  const refusal = refusalOf(await runProgram(args, { env }), 2)
  expect(refusal).toStartWith(message)
  expect(refusal).not.toContain('geheim')
})
