// The daemon with a certificate: --tls-cert, --tls-key, and a new pair at SIGHUP.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type TLSSocket } from 'node:tls'
import {
  type Daemon,
  PATIENCE_MS,
  runProgram,
  startDaemon,
  temporaryFolder,
} from '../../harness/daemon'
import { until } from '../../harness/until'

setDefaultTimeout(PATIENCE_MS)

const hasOpenssl = Bun.which('openssl') !== null
const isLinux = process.platform === 'linux'
const insecure = { tls: { rejectUnauthorized: false } }

type Folder = ReturnType<typeof temporaryFolder>

/** Makes a certificate for this machine, signed by itself, and its key: `NAME.crt` and `NAME.key`. */
function makePair(folder: Folder, name: string, days = 30, algorithm = 'ec') {
  const pair = { cert: folder.file(`${name}.crt`), key: folder.file(`${name}.key`) }
  const { exitCode, stderr } = Bun.spawnSync([
    'openssl',
    ...['req', '-x509', '-nodes', '-newkey', algorithm === 'ec' ? 'ec' : 'rsa:2048'],
    ...(algorithm === 'ec' ? ['-pkeyopt', 'ec_paramgen_curve:prime256v1'] : []),
    ...['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
    ...['-days', String(days), '-out', pair.cert, '-keyout', pair.key],
  ])
  if (exitCode !== 0) throw new Error(stderr.toString())
  return pair
}

/** The files that a daemon is given, which a test fills with one pair or another. */
function usePair(folder: Folder, { cert, key }: ReturnType<typeof makePair>) {
  const files = { cert: folder.file('tls.crt'), key: folder.file('tls.key') }
  copyFileSync(cert, files.cert)
  copyFileSync(key, files.key)
  return { ...files, args: ['--tls-cert', files.cert, '--tls-key', files.key] }
}

async function open(daemon: Daemon): Promise<TLSSocket> {
  const { hostname, port } = new URL(daemon.url)
  const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false })
  await new Promise<void>((resolve, reject) => {
    socket.once('secureConnect', resolve)
    socket.once('error', reject)
  })
  return socket
}

/** The name that the certificate of a new connection has. */
async function servedName(daemon: Daemon): Promise<string> {
  const socket = await open(daemon)
  const { CN } = socket.getPeerCertificate().subject
  socket.destroy()
  return String(CN)
}

test.skipIf(!hasOpenssl)('says HSTS with --hsts, on every answer, and not without', async () => {
  using folder = temporaryFolder()
  const { args } = usePair(folder, makePair(folder, 'first'))
  const header = 'strict-transport-security'
  {
    await using daemon = await startDaemon({ args, database: folder.file('plants.db') })
    const answer = await fetch(`${daemon.url}/health`, insecure)
    expect(answer.headers.has(header)).toBeFalse()
  }
  const flags = [...args, '--hsts', '1y']
  await using daemon = await startDaemon({ args: flags, database: folder.file('plants.db') })
  for (const path of ['/health', '/plants', '/', '/nowhere']) {
    const answer = await fetch(daemon.url + path, insecure)
    expect(answer.headers.get(header)).toBe('max-age=31536000')
  }
})

/** Sends SIGHUP and waits until it has taken effect; resolves to the event that says how. */
async function reload(daemon: Daemon) {
  const events = () => daemon.events().filter(({ event }) => /^certificate-/.test(event))
  const before = events().length
  process.kill(daemon.pid, 'SIGHUP')
  await until('an event of the certificate', () => events().length > before)
  return events().at(-1)
}

/** Sends a request over a connection; resolves to whether it stays open. Rejects where there is no whole answer. */
function request(socket: TLSSocket): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>()
  let received = ''
  const onData = (bytes: Buffer) => {
    received += bytes
    const [head, body] = received.split('\r\n\r\n')
    if (!head?.startsWith('HTTP/1.1 200') || body === undefined) return
    if (body.length >= Number(/content-length: (\d+)/i.exec(head)?.[1])) {
      resolve(!/^connection: close/im.test(head))
    }
  }
  const onEnd = () => reject(new Error(`closed after ${JSON.stringify(received)}`))
  socket.on('data', onData).on('error', reject).on('close', onEnd)
  socket.write('GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n')
  return promise.finally(() => {
    socket.off('data', onData).off('error', reject).off('close', onEnd)
  })
}

/** Sends requests until it is told to stop, at most so many over one connection. */
function startClient(daemon: Daemon, requestsPerConnection: number) {
  let isOver = false
  let answers = 0
  const failures: string[] = []
  const run = async () => {
    while (!isOver) {
      try {
        const socket = await open(daemon)
        for (let sent = 0; sent < requestsPerConnection && !isOver; sent++) {
          const isKept = await request(socket)
          answers += 1
          if (!isKept) break
        }
        socket.on('error', () => {})
        socket.destroy()
      } catch (error) {
        failures.push(String(error))
      }
    }
  }
  const ended = run()
  return {
    async stop() {
      isOver = true
      await ended
      return { answers, failures }
    },
  }
}

test.skipIf(!hasOpenssl)('serves HTTPS, and says so', async () => {
  using folder = temporaryFolder()
  const { args, cert } = usePair(folder, makePair(folder, 'one'))
  const env = { PLANTSTORE_TOKEN: '' }
  await using daemon = await startDaemon({ database: folder.file('plants.db'), args, env })
  await until('the first token', () => daemon.out().includes('to make another token'))
  const { port } = new URL(daemon.url)

  expect(daemon.url).toBe(`https://127.0.0.1:${port}`)
  expect(daemon.out()).toContain(`listens on ${daemon.url}\n`)
  const [curl = ''] = /^ {2}curl .*$/m.exec(daemon.out()) ?? []
  expect(curl).toMatch(/^ {2}curl -k -H .* https:\/\/127\.0\.0\.1:\d+\/plants$/)
  if (Bun.which('curl')) {
    const { stdout } = Bun.spawnSync(['sh', '-c', `${curl} --silent`])
    expect(stdout.toString()).toBe('{"name":"Monstera deliciosa","tag":"aroid"}')
  }
  const health = await runProgram(['health', '--port', port, '--tls-cert', cert])
  expect(health).toEqual({ out: `ok ${daemon.url}/health\n`, err: '', code: 0 })
  expect((await runProgram(['health', '--port', port])).code).toBe(1)
  expect(await daemon.stop()).toBe(0)
})

/** The cipher of a new connection with TLS 1.2; null if it is refused. */
function cipherOf(daemon: Daemon, ciphers: string): string | null {
  const address = ['-connect', new URL(daemon.url).host]
  const command = ['openssl', 's_client', ...address, '-tls1_2', '-cipher', ciphers]
  const { stdout } = Bun.spawnSync(command, { stdin: 'ignore' })
  return /^ *Cipher *: (?!0000)(\S+)/m.exec(stdout.toString())?.[1] ?? null
}

test.skipIf(!hasOpenssl).each(['ec', 'rsa'])(
  'serves TLS 1.2 with forward secrecy and authenticated encryption only, with a key of %s',
  async (algorithm) => {
    using folder = temporaryFolder()
    const { args } = usePair(folder, makePair(folder, 'one', 30, algorithm))
    await using daemon = await startDaemon({ database: folder.file('plants.db'), args })
    const name = algorithm === 'ec' ? 'ECDSA' : 'RSA'

    const found = ['AES256-GCM-SHA384', 'CHACHA20-POLY1305', 'AES256-SHA', 'AES128-SHA']
      .flatMap((cipher) => [cipher, `ECDHE-${name}-${cipher}`])
      .map((cipher) => cipherOf(daemon, `${cipher}:@SECLEVEL=0`))
    expect(found.filter((cipher) => cipher !== null)).toEqual([
      `ECDHE-${name}-AES256-GCM-SHA384`,
      `ECDHE-${name}-CHACHA20-POLY1305`,
    ])
    const socket = await open(daemon)
    expect(socket.getProtocol()).toBe('TLSv1.3')
    socket.destroy()
  },
)

test.skipIf(!hasOpenssl)('has a metric of the expiry, which follows a new pair', async () => {
  using folder = temporaryFolder()
  const files = usePair(folder, makePair(folder, 'one', 30))
  const options = { database: folder.file('plants.db'), args: files.args }
  await using daemon = await startDaemon(options)
  const daysLeft = async () => {
    const text = await (await daemon.fetch('/metrics', insecure)).text()
    const [, seconds] =
      /^plantstore_tls_certificate_expiry_timestamp_seconds (\d+)$/m.exec(text) ?? []
    return Math.round((Number(seconds) - Date.now() / 1000) / 86_400)
  }

  expect(await daysLeft()).toBe(30)
  usePair(folder, makePair(folder, 'two', 60))
  expect(await reload(daemon)).toMatchObject({ event: 'certificate-read', file: files.cert })
  expect(await daysLeft()).toBe(60)
})

test.skipIf(!hasOpenssl || !isLinux)(
  'takes a new pair at each SIGHUP under load, and no request fails',
  async () => {
    using folder = temporaryFolder()
    const pairs = [makePair(folder, 'one'), makePair(folder, 'two')] as const
    const { args } = usePair(folder, pairs[0])
    await using daemon = await startDaemon({ database: folder.file('plants.db'), args })
    const idle = await open(daemon)
    const clients = [
      ...Array.from({ length: 6 }, () => startClient(daemon, Number.POSITIVE_INFINITY)),
      ...Array.from({ length: 6 }, () => startClient(daemon, 1)),
      ...Array.from({ length: 4 }, () => startClient(daemon, 5)),
    ]

    for (let round = 1; round <= 20; round++) {
      const [name, pair] = round % 2 ? ['two', pairs[1]] : ['one', pairs[0]]
      usePair(folder, pair)
      expect(await reload(daemon)).toMatchObject({ event: 'certificate-read', level: 'info' })
      expect(await servedName(daemon)).toBe(name)
      expect(await servedName(daemon)).toBe(name)
      await Bun.sleep(50)
    }

    const results = await Promise.all(clients.map((client) => client.stop()))
    expect(results.flatMap(({ failures }) => failures)).toEqual([])
    for (const { answers } of results) expect(answers).toBeGreaterThan(20)
    // A connection that was open before all of them still works, once.
    expect(await request(idle)).toBeFalse()
    idle.destroy()
    expect(await daemon.stop()).toBe(0)
  },
)

test.skipIf(!hasOpenssl || !isLinux)('does not share its port after a new pair', async () => {
  using folder = temporaryFolder()
  const { args } = usePair(folder, makePair(folder, 'one'))
  await using daemon = await startDaemon({ database: folder.file('plants.db'), args })
  const { port } = new URL(daemon.url)
  const second = ['serve', '--database', folder.file('2.db'), '--port', port]

  for (let round = 0; round < 2; round++) {
    for (const flags of [[], args]) {
      const { err, code } = await runProgram([...second, ...flags])
      expect(code).toBe(1)
      expect(err).toContain(`127.0.0.1:${port} is already in use`)
    }
    await reload(daemon)
  }
})

test.skipIf(!hasOpenssl)('keeps the old pair where the new one is bad', async () => {
  using folder = temporaryFolder()
  const [one, two] = [makePair(folder, 'one'), makePair(folder, 'two')]
  const { args, cert, key } = usePair(folder, one)
  await using daemon = await startDaemon({ database: folder.file('plants.db'), args })
  const damaged = '-----BEGIN CERTIFICATE-----\nZ2FyYmFnZQ==\n-----END CERTIFICATE-----\n'
  const damagedChain = `${readFileSync(one.cert, 'utf8')}${damaged}`
  const bad: [() => void, string][] = [
    [() => copyFileSync(two.cert, cert), `the key ${key} does not match the certificate ${cert}`],
    [() => writeFileSync(cert, 'no PEM'), `${cert} does not contain valid certificates in PEM`],
    [() => writeFileSync(cert, damagedChain), `${cert} does not contain valid certificates in PEM`],
    [() => rmSync(cert), `cannot read ${cert}: no such file`],
    [
      () => {
        copyFileSync(one.cert, cert)
        writeFileSync(key, '')
      },
      `${key} does not contain a private key without a passphrase in PEM`,
    ],
  ]

  for (const [spoil, detail] of bad) {
    spoil()
    expect(await reload(daemon)).toMatchObject({
      event: 'certificate-refused',
      level: 'error',
      detail,
    })
    expect(await servedName(daemon)).toBe('one')
  }
  usePair(folder, two)
  await reload(daemon)
  expect(await servedName(daemon)).toBe('two')
})

test.skipIf(!hasOpenssl)('does not start with a bad pair', async () => {
  using folder = temporaryFolder()
  const [one, two] = [makePair(folder, 'one'), makePair(folder, 'two')]
  const serve = (...flags: string[]) =>
    runProgram(['serve', '--port', '0', '--database', folder.file('plants.db'), ...flags])

  expect(await serve('--tls-cert', one.cert, '--tls-key', two.key)).toEqual({
    out: '',
    err: `plantstore: the key ${two.key} does not match the certificate ${one.cert}\n`,
    code: 1,
  })
  const missing = folder.file('none.key')
  expect((await serve('--tls-cert', one.cert, '--tls-key', missing)).err).toBe(
    `plantstore: cannot read ${missing}: no such file\n`,
  )
})

test.each([
  [['--hsts', '1y'], '--hsts needs --tls-cert'],
  [['--tls-cert', 'x.crt'], '--tls-cert and --tls-key need each other'],
  [['--tls-key', 'x.key'], '--tls-cert and --tls-key need each other'],
])('refuses the flags %j, whether or not its port is free', async (flags, message) => {
  using folder = temporaryFolder()
  await using other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const port = ['--port', String(other.port)]
  const { err, code } = await runProgram(['serve', ...port, ...flags], { cwd: folder.path })

  expect(code).toBe(2)
  expect(err).toBe(`plantstore: ${message}; see "plantstore serve --help"\n`)
})

test('refuses a certificate for a unix socket', async () => {
  const flags = ['--tls-cert', 'x.crt', '--tls-key', 'x.key', '--unix', 'x.sock']
  const { err, code } = await runProgram(['serve', ...flags])

  expect(code).toBe(2)
  expect(err).toBe(
    'plantstore: --tls-cert needs a port: leave --unix out; see "plantstore serve --help"\n',
  )
})
