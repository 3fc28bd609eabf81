// The daemon with a certificate: --tls-cert and --tls-key.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect, type TLSSocket } from 'node:tls'
import { refusalOf, storeFolder } from '../../harness/commands'
import { type Daemon, PATIENCE_MS, runProgram, temporaryFolder } from '../../harness/daemon'
import { until } from '../../harness/until'

setDefaultTimeout(PATIENCE_MS)

const hasOpenssl = Bun.which('openssl') !== null
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

const flagsOf = ({ cert, key }: ReturnType<typeof makePair>) => [
  ...['--tls-cert', cert],
  ...['--tls-key', key],
]

async function open(daemon: Daemon): Promise<TLSSocket> {
  const { hostname, port } = new URL(daemon.url)
  const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false })
  await new Promise<void>((resolve, reject) => {
    socket.once('secureConnect', resolve)
    socket.once('error', reject)
  })
  return socket
}

test.skipIf(!hasOpenssl)('every response has HSTS with --hsts, and none without', async () => {
  using folder = storeFolder()
  const args = flagsOf(makePair(folder, 'first'))
  const header = 'strict-transport-security'
  {
    await using daemon = await folder.serve({ args })
    const response = await fetch(`${daemon.url}/health`, insecure)
    expect(response.headers.has(header)).toBeFalse()
  }
  const flags = [...args, '--hsts', '1y']
  await using daemon = await folder.serve({ args: flags })
  for (const path of ['/health', '/plants', '/', '/nowhere']) {
    const response = await fetch(daemon.url + path, insecure)
    expect(response.headers.get(header)).toBe('max-age=31536000')
  }
})

test.skipIf(!hasOpenssl)('the daemon serves HTTPS, and its curl line works', async () => {
  using folder = storeFolder()
  const pair = makePair(folder, 'one')
  const args = flagsOf(pair)
  const env = { PLANTSTORE_TOKEN: '' }
  await using daemon = await folder.serve({ args, env })
  await until('the first token', () => daemon.out().includes('to make another token'))
  const { port } = new URL(daemon.url)

  expect(daemon.url).toBe(`https://127.0.0.1:${port}`)
  const [curl = ''] = /^ {2}curl .*$/m.exec(daemon.out()) ?? []
  expect(curl).toMatch(/^ {2}curl -k -H .* https:\/\/127\.0\.0\.1:\d+\/plants$/)
  if (Bun.which('curl')) {
    const { stdout } = Bun.spawnSync(['sh', '-c', `${curl} --silent`])
    expect(stdout.toString()).toBe('{"name":"Monstera deliciosa","tag":"aroid"}')
  }
  const health = await runProgram(['health', '--port', port, '--tls-cert', pair.cert])
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
  'TLS 1.2 allows only forward secrecy and authenticated encryption with a key of %s',
  async (algorithm) => {
    using folder = storeFolder()
    const args = flagsOf(makePair(folder, 'one', 30, algorithm))
    await using daemon = await folder.serve({ args })
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

test.skipIf(!hasOpenssl)('the expiry of the certificate is a metric', async () => {
  using folder = storeFolder()
  const args = flagsOf(makePair(folder, 'one', 30))
  await using daemon = await folder.serve({ args })
  const text = await (await daemon.fetch('/metrics', insecure)).text()
  const [, seconds] =
    /^plantstore_tls_certificate_expiry_timestamp_seconds (\d+)$/m.exec(text) ?? []

  expect(Math.round((Number(seconds) - Date.now() / 1000) / 86_400)).toBe(30)
})

test.skipIf(!hasOpenssl)(
  'the daemon does not start if certificate and key do not match',
  async () => {
    using folder = storeFolder()
    const [one, two] = [makePair(folder, 'one'), makePair(folder, 'two')]
    const file = (name: string, text: string) => {
      writeFileSync(folder.file(name), text)
      return folder.file(name)
    }
    const unusable = (cert: string, key: string) =>
      `${cert} and ${key} must be a certificate chain and its private key, in PEM and without a passphrase`
    const damaged = '-----BEGIN CERTIFICATE-----\nZ2FyYmFnZQ==\n-----END CERTIFICATE-----\n'
    const [noPem, empty, missing] = [
      file('no.crt', 'no PEM'),
      file('empty.key', ''),
      folder.file('x'),
    ]
    const damagedChain = file('damaged.crt', `${readFileSync(one.cert, 'utf8')}${damaged}`)
    const missed = `cannot read ${missing}: no such file or folder`
    const bad: [cert: string, key: string, message?: string][] = [
      [one.cert, two.key],
      [noPem, one.key],
      [damagedChain, one.key],
      [one.cert, empty],
      [one.cert, missing, missed],
      [missing, one.key, missed],
    ]

    for (const [cert, key, message = unusable(cert, key)] of bad) {
      const words = ['serve', '--port', '0', '--database', folder.database]
      expect(refusalOf(await runProgram([...words, ...flagsOf({ cert, key })]))).toBe(message)
    }
  },
)

test.each([
  [['--hsts', '1y']],
  [['--tls-cert', 'x.crt']],
  [['--tls-key', 'x.key']],
  [['--tls-cert', 'x.crt', '--tls-key', 'x.key', '--unix', 'x.sock']],
])('the flags %j are refused, whether or not the port is free', async (flags) => {
  using folder = temporaryFolder()
  await using other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const port = flags.includes('--unix') ? [] : ['--port', String(other.port)]
  expect(refusalOf(await runProgram(['serve', ...port, ...flags], { cwd: folder.path }), 2)).toBe(
    'HTTPS, and --hsts, need --tls-cert, --tls-key and no --unix; see "plantstore serve --help"',
  )
})
