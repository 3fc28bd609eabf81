import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { OPTIONS, type OptionName, variableOf } from '../../src/config/options'
import { refusalOf, storeFolder } from '../harness/commands'
import { PATIENCE_MS, runProgram, startDaemon } from '../harness/daemon'

setDefaultTimeout(PATIENCE_MS)

const COMMANDS = [
  'serve',
  'token',
  'import',
  'export',
  'backup',
  'restore',
  'check',
  'changes',
  'forward',
  'health',
  'completion',
]

const toFlag = (name: string) =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`

test.each(['--help', '-h', 'help'])('help lists every command: %s', async (flag) => {
  const { out, err, code } = await runProgram([flag])

  expect({ err, code }).toEqual({ err: '', code: 0 })
  for (const command of COMMANDS) {
    expect(out).toMatch(new RegExp(`^  ${command} +\\S`, 'm'))
  }
})

test('a missing command is a usage error with the help', async () => {
  const { out, code } = await runProgram([])

  expect(code).toBe(2)
  expect(out).toContain('Usage: plantstore COMMAND')
})

test.each(['--version', '-v', '-V', 'version'])('%s prints the version', async (flag) => {
  expect(await runProgram([flag])).toEqual({
    out: expect.stringMatching(
      /^plantstore \d+\.\d+\.\d+ \(commit (unknown|[0-9a-f]{12,40}(-dirty)?)\)\n$/,
    ),
    err: '',
    code: 0,
  })
})

test.each(COMMANDS)('help explains each command: %s', async (command) => {
  const { out, err, code } = await runProgram([command, '--help'])

  expect({ err, code }).toEqual({ err: '', code: 0 })
  expect(out).toStartWith(`plantstore ${command}: `)
  expect(out).toContain(`Usage: plantstore ${command} `)
  expect(out.split('\n').filter((line) => line.length > 80)).toEqual([])
  expect(await runProgram([command, '-h'])).toEqual({ out, err, code })
})

test('help lists the flag, the default and the environment variable of each option of serve', async () => {
  const { out } = await runProgram(['serve', '--help'])

  for (const name of ['host', 'port', 'database', 'maxBodyBytes', 'stopSeconds'] as const) {
    const ending = `default: ${OPTIONS[name].default}; ${variableOf(name)}`
    expect(out).toMatch(new RegExp(`^  ${toFlag(name)} .*\\n +\\(${ending}\\)$`, 'm'))
  }
  for (const variable of ['PLANTSTORE_TOKEN', 'PLANTSTORE_TOKEN_FILE', 'PLANTSTORE_LOG_REQUESTS']) {
    expect(out).toContain(variable)
  }
})

test('a command ignores the variables of options that it does not have', async () => {
  using folder = storeFolder()
  const { database } = folder
  await using _ = await folder.serve()
  const args = ['token', 'create', 'laptop', '--database', database]

  const env = { PLANTSTORE_PORT: 'http' }
  expect((await runProgram(args, { env })).code).toBe(0)
  expect((await runProgram(['health'], { env })).code).toBe(2)
})

/** The variables of a Kubernetes Service or a Docker link of this name, in capitals. */
const linkVariables = (name: string, port = 3000) => ({
  [`${name}_SERVICE_HOST`]: '10.0.0.1',
  [`${name}_SERVICE_PORT`]: String(port),
  [`${name}_SERVICE_PORT_HTTP`]: String(port),
  [`${name}_PORT`]: `tcp://10.0.0.1:${port}`,
  [`${name}_PORT_${port}_TCP`]: `tcp://10.0.0.1:${port}`,
  [`${name}_PORT_${port}_TCP_PROTO`]: 'tcp',
  [`${name}_PORT_${port}_TCP_PORT`]: String(port),
  [`${name}_PORT_${port}_TCP_ADDR`]: '10.0.0.1',
  [`${name}_NAME`]: '/web/plantstore',
  [`${name}_ENV_LANG`]: 'C',
})

test('no option but the port has a variable that Kubernetes may set for a Service', () => {
  const taken = (Object.keys(OPTIONS) as OptionName[])
    .map(variableOf)
    .filter((variable) => variable !== null)
    .filter((variable) => {
      // Each beginning of its name could be that of a Service.
      const words = variable.split('_')
      return words.some((_, at) => variable in linkVariables(words.slice(0, at).join('_')))
    })

  expect(taken).toEqual(['PLANTSTORE_PORT'])
})

test('the variables that Kubernetes sets for a Service named plantstore are ignored', async () => {
  using folder = storeFolder()
  const env = linkVariables('PLANTSTORE')
  const args = ['--unix', folder.file('socket')]
  await using _daemon = await folder.serve({ args, env })

  expect((await runProgram(['health', ...args], { env })).code).toBe(0)
})

const misspelt = {
  PLANTSTORE_KEEP_CHANGE: '30d',
  PLANTSTORE_BACKUP_FOLDERS: '/backups',
  plantstore_port: '1',
  PLANTSTORE_COLOUR: 'green',
  ...linkVariables('PLANTSTORE_WEB'),
  PLANTSTORE_WEB_NAME: undefined,
  PLANTSTORE_WEB_ENV_LANG: undefined,
}
const unknown = [
  'PLANTSTORE_BACKUP_FOLDERS; did you mean "PLANTSTORE_BACKUP_FOLDER"?',
  'PLANTSTORE_COLOUR',
  'PLANTSTORE_KEEP_CHANGE; did you mean "PLANTSTORE_KEEP_CHANGES"?',
  'plantstore_port; did you mean "PLANTSTORE_PORT"?',
]

test('serve logs each unknown variable once, with the nearest known one', async () => {
  using folder = storeFolder()
  // A database file needs no password.
  const env = { ...misspelt, PLANTSTORE_DATABASE_PASSWORD_FILE: '/missing' }
  await using daemon = await folder.serve({ env })

  expect(daemon.events().filter(({ event }) => event === 'variable-unknown')).toEqual(
    unknown.map((detail) => ({
      time: expect.any(String),
      level: 'warn',
      event: 'variable-unknown',
      detail,
    })),
  )
})

test('other commands warn of unknown variables before they run, but completion and help do not', async () => {
  using folder = storeFolder()
  const args = ['--database', folder.database]
  const { err } = await runProgram(['token', 'list', ...args], { env: misspelt })

  expect(err).toBe(
    unknown
      .map((text) => `plantstore: warning: unknown variable ${text}\n`)
      .concat(`plantstore: no database at ${folder.database}; name another with --database\n`)
      .join(''),
  )
  for (const silent of [['completion', 'bash'], ['token', '--help'], ['--version']]) {
    expect(await runProgram(silent, { env: misspelt })).toMatchObject({ err: '', code: 0 })
  }
})

test.each([
  ['PLANTSTORE_DATABASE', `"a.db" # the plants`],
  ['PLANTSTORE_DATABASE', ` 'a.db'`],
  ['PLANTSTORE_DATABASE', `"postgres://127.0.0.1:1/plants"`],
  ['PLANTSTORE_TOKEN', `"token_0123456789abcdef"`],
])('quotes around a value are refused: %s=%s', async (variable, text) => {
  using folder = storeFolder()
  const env = { [variable]: text }
  expect(refusalOf(await runProgram(['serve', '--port', '0'], { env, cwd: folder.path }), 2)).toBe(
    `${variable} has quotes around its value; remove them; see "plantstore serve --help"`,
  )
  expect(readdirSync(folder.path)).toEqual([])
})

test('a file name may contain quotes', async () => {
  using folder = storeFolder()
  const create = (database: string) =>
    runProgram(['import', '--format', 'csv', '-', '--database', database], { cwd: folder.path })

  expect(await create(`"a.db"`)).toMatchObject({
    code: 2,
    err: expect.stringContaining('--database has quotes around its value; remove them'),
  })
  expect(readdirSync(folder.path)).toEqual([])
  expect((await create(`./"a.db"`)).code).toBe(0)
  expect(readdirSync(folder.path)).toContain(`"a.db"`)
})

test('no flag takes a secret', async () => {
  for (const flag of ['--token=pst_0123456789abcdef', '--token-file=/dev/null']) {
    const { err, code } = await runProgram(['serve', flag])
    expect(code).toBe(2)
    expect(err).not.toContain('pst_')
  }
})

test.concurrent.each([
  [['constructor'], 'constructor'],
  [['--port', '80'], '"--port"; see'],
  [['import', '-x.csv'], 'unknown option x'],
  [['health', '--host', 'localhost:3000'], '--host'],
  [['serve', 'now'], 'now'],
  [['serve', '--keep-changes', '30'], '--keep-changes'],
  [['health', '--database', 'x'], '--database'],
  [['token', 'frob', 'x'], 'token create NAME'],
  [['token', 'create', 'a', 'b'], 'exactly one token NAME'],
  [['token', 'create', '.ci'], 'a letter or digit'],
  [['token', 'create', 'x'.repeat(65)], 'letters'],
  [['token', 'list', 'a'], 'no name'],
  [['token', 'create', 'a', '--json'], 'token create has no option --json'],
] as const)('the words %j are refused in one line and have no effect', async (args, named) => {
  using folder = storeFolder()

  const refusal = refusalOf(await runProgram(args, { cwd: folder.path }), 2)

  expect(refusal).toContain(named)
  expect(refusal).toMatch(/; (see "plantstore ([a-z]+ )?--help"|did you mean "[a-z-]+"\?)$/)
  expect(existsSync(folder.database)).toBeFalse()
})

test.each([
  [['halth'], 'unknown command "halth"; did you mean "health"?'],
  [['serve', '--prot', '3'], 'unknown option --prot; did you mean "--port"?'],
  [
    ['serve', '--port'],
    '--port needs a value; one that begins with a dash: --port=VALUE; see "plantstore serve --help"',
  ],
  [['serve', '--database', ''], '--database must not be empty; see "plantstore serve --help"'],
  [['serve', '--log-requests=1'], '--log-requests takes no value; see "plantstore serve --help"'],
  [
    ['import', 'x.csv', '--refused', '-'],
    '--refused must name a file; see "plantstore import --help"',
  ],
  [
    ['serve', '--log-level', 'debug'],
    '--log-level must be info, warn or error; see "plantstore serve --help"',
  ],
  [
    ['export', '--format', 'json'],
    'unknown format; add --format ndjson, csv or xlsx; see "plantstore export --help"',
  ],
  [['backup', ''], 'give exactly one FILE; see "plantstore backup --help"'],
  [
    ['backup', '-'],
    'a backup cannot go to standard output; give a FILE; see "plantstore backup --help"',
  ],
  [
    ['serve', '--unix', 'socket', '--port', '3001'],
    'give --unix or --port, not both; see "plantstore serve --help"',
  ],
  [['serve', '--no-port'], 'unknown option --no-port; see "plantstore serve --help"'],
  [
    ['token', 'create', 'a', '--expires', '2030-01-01'],
    '--expires must be a duration from 1s to 1000y, such as 90d; see "plantstore token --help"',
  ],
] as const)('the message names the mistake in %j', async (args, message) => {
  using folder = storeFolder()

  expect(refusalOf(await runProgram(args, { cwd: folder.path }), 2)).toBe(message)
})

test.each([
  ['nope.invalid', 'cannot listen on nope.invalid:0: unknown host; see --host and --port'],
  [
    '192.0.2.1',
    'cannot listen on 192.0.2.1:0: not an address of this machine; see --host and --port',
  ],
])('serve creates no database if it cannot listen: %s', async (host, message) => {
  using folder = storeFolder()
  const args = ['serve', '--port', '0', '--host', host]

  expect(refusalOf(await runProgram(args, { cwd: folder.path }))).toBe(message)
  expect(existsSync(folder.database)).toBeFalse()
})

test('serve creates no database if the port is in use', async () => {
  using folder = storeFolder()
  await using daemon = await folder.serve()
  const args = ['--port', String(daemon.port), '--database', folder.file('other.db')]
  expect(refusalOf(await runProgram(['serve', ...args]))).toBe(
    `cannot listen on 127.0.0.1:${daemon.port}: the address is already in use; see --host and --port`,
  )
  expect(existsSync(folder.file('other.db'))).toBe(false)
})

test('words after "--" are arguments', async () => {
  const { err } = await runProgram(['serve', '--', '--port'])

  expect(err).toContain('serve takes no arguments, only options: "--port"')
})

test.each([
  ['PLANTSTORE_PORT', 'http'],
  ['PLANTSTORE_STOP_SECONDS', '1s'],
  ['PLANTSTORE_LOG_REQUESTS', 'TRUE'],
])('the message names a refused variable: %s=%s', async (name, value) => {
  using folder = storeFolder()

  const { err, code } = await runProgram(['serve'], { cwd: folder.path, env: { [name]: value } })

  expect(code).toBe(2)
  expect(err).toMatch(new RegExp(`^plantstore: ${name} must be .+\n$`))
})

test('a flag takes precedence over an environment variable', async () => {
  using folder = storeFolder()
  const env = {
    PLANTSTORE_HOST: '0.0.0.0',
    PLANTSTORE_PORT: '1',
    PLANTSTORE_DATABASE: folder.file('by-environment.db'),
    PLANTSTORE_MAX_BODY_BYTES: '10',
    PLANTSTORE_LOG_REQUESTS: 'true',
  }
  {
    await using daemon = await startDaemon({ cwd: folder.path, env })
    expect((await daemon.create(1)).status).toBe(413)
    expect(daemon.url).not.toEndWith(':1')
    await daemon.event('request')
    expect(await daemon.event('listening')).toMatchObject({ host: '0.0.0.0' })
  }
  expect(existsSync(folder.file('by-environment.db'))).toBeTrue()

  const args = ['--max-body-bytes', '100', '--host', '127.0.0.1', '--no-log-requests']
  await using daemon = await startDaemon({ database: folder.file('by-flag.db'), args, env })
  expect((await daemon.create(1)).status).toBe(200)
  expect(existsSync(folder.file('by-flag.db'))).toBeTrue()
  expect(await daemon.stop()).toBe(0)
  expect(daemon.events().map(({ event }) => event)).not.toContain('request')
})
