// No output shows a secret of a URL, whatever a receiver, a daemon, a proxy or a database server answers.
import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { createSendRequest } from '../../src/outbound/request'
import { makeCa } from '../harness/certificates'
import { PATIENCE_MS, runProgram, startDaemon, startProgram } from '../harness/daemon'
import { own } from '../harness/own'
import { ownFolder } from '../harness/own-folder'

setDefaultTimeout(PATIENCE_MS)

const folder = ownFolder()
const ca = own(() => makeCa(folder, 'ca'))
const expired = own(() => ca.sign('IP:127.0.0.1', -1))
const valid = own(() => ca.sign('IP:127.0.0.1'))

const SECRETS = ['PathSecret', 'QuerySecret', 'UserSecret', 'PassSecret', 'TokenSecret', 'Other']
const SECRET_PATH = '/hook/PathSecret?s=QuerySecret'
const TOKEN = 'TokenSecret0123456789'
const USER = 'UserSecret:PassSecret@'

function expectNoSecret(text: string): void {
  for (const secret of SECRETS) expect(text).not.toContain(secret)
}

/** The output of a server: at each message of its client, or as soon as it connects. */
type Behavior = {
  readonly data?: (socket: Socket) => void
  readonly open?: (socket: Socket) => void
}

const send =
  (bytes: string | Uint8Array) =>
  (socket: Socket): void =>
    void socket.end(bytes)
const answering = (...lines: readonly string[]): Behavior => ({ data: send(lines.join('\r\n')) })
const ok = (...lines: readonly string[]) => answering('HTTP/1.1 200 OK', ...lines)
const to = (location: string) =>
  answering('HTTP/1.1 302 Found', `Location: ${location}`, 'Content-Length: 0', '', '')

/** A TCP server. */
async function behave({ data, open }: Behavior) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    open?.(socket)
    socket.on('data', () => data?.(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    host: `127.0.0.1:${(server.address() as { port: number }).port}`,
    [Symbol.dispose]() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

const tls = (pair: { cert: string; key: string }) =>
  Bun.serve({ port: 0, hostname: '127.0.0.1', tls: pair, fetch: () => new Response('x') })

const failures: [name: string, Behavior][] = [
  ['another protocol', answering('SSH-2.0-OpenSSH_9.2', '')],
  ['HTTP/0.9', answering('<p>hello</p>', '', '')],
  ['a status that is no number', answering('HTTP/1.1 abc OK', '', '')],
  ['another version', answering('HTTP/3.0 200 OK', '', '')],
  ['a header without a colon', ok('PathSecret', '', '')],
  ['a header with NUL', ok('a: \0', '', '')],
  ['5000 headers', ok('x: y\r\n'.repeat(5000), '')],
  ['a switch of protocols', answering('HTTP/1.1 101 Hello', 'Upgrade: x', '', '')],
  ['a length that is no number', ok('Content-Length: x', '', 'abc')],
  ['two lengths', ok('Content-Length: 3', 'Content-Length: 4', '', 'abc')],
  ['an unknown coding', ok('Transfer-Encoding: other', '', 'abc')],
  ['a chunk that is none', ok('Transfer-Encoding: chunked', '', 'ZZ', 'abc')],
  ['a chunk cut midway', ok('Transfer-Encoding: chunked', '', '5', 'ab')],
  ['a body cut midway', ok('Content-Length: 100', '', 'abc')],
  ['headers cut midway', ok('Content-Len')],
  ['an end without an answer', { data: send('') }],
  ['an end at once', { open: send('') }],
  ['a reset', { data: (socket) => void socket.resetAndDestroy() }],
  ...['gzip', 'deflate', 'br', 'zstd'].map((coding): [string, Behavior] => [
    `damaged ${coding}`,
    ok(`Content-Encoding: ${coding}`, 'Content-Length: 20', '', 'x'.repeat(20)),
  ]),
  ['a redirect loop', to(SECRET_PATH)],
  ['a redirect to no URL', to('http://[OtherSecret')],
  ['a redirect to another scheme', to('ftp://x/OtherSecret')],
]

/** The explanation of a missing answer. */
const reason = (url: string, seconds = 20): Promise<string> => {
  const headers = { authorization: `Bearer ${TOKEN}` }
  return createSendRequest(false)(url, { target: 'daemon', seconds, headers }).then(
    ({ status }) => `answered ${status}`,
    (error: Error) => error.message,
  )
}

describe('a message about a failed request', () => {
  test.each(failures)('shows no secret of its URL: %s', async (_, behavior) => {
    using server = await behave(behavior)
    const said = await reason(`http://${USER}${server.host}${SECRET_PATH}`)

    expect(said).toStartWith(`no answer from http://${server.host}: `)
    expect(said).not.toContain('unknown error')
    expectNoSecret(said)
  })

  test('shows no secret of its URL: silence, before and within the answer', async () => {
    for (const behavior of [{}, { data: (socket: Socket) => void socket.write('HTTP/1.1 ') }]) {
      using server = await behave(behavior)
      const url = `http://${USER}${server.host}${SECRET_PATH}`
      const said = await reason(url, 0.2)
      expect(said).toBe(`no answer from http://${server.host} within 0.2 s`)
    }
  })

  test.each([
    ['http://127.0.0.1:1', 'nothing is listening at'],
    ['http://nope.invalid', 'cannot resolve host nope.invalid'],
    [`http://${'a'.repeat(64)}.invalid`, 'cannot resolve host'],
  ])('shows no secret of its URL: %s, %s', async (origin, words) => {
    const said = await reason(origin.replace('//', `//${USER}`) + SECRET_PATH)

    expect(said).toContain(words)
    expectNoSecret(said)
  })

  test.each([
    ['an unknown CA', valid, 'is refused (UNABLE_TO_VERIFY_LEAF_SIGNATURE)'],
    ['an expired certificate', expired, 'is refused (CERT_HAS_EXPIRED)'],
  ])('shows no secret of its URL: %s', async (_, pair, words) => {
    await using server = tls(pair)
    const said = await reason(`https://${USER}127.0.0.1:${server.port}${SECRET_PATH}`)

    expect(said).toContain(words)
    expectNoSecret(said)
  })

  test('shows no secret of its URL: malformed TLS, and TLS instead of plain HTTP', async () => {
    using garbage = await behave({ data: send('garbage garbage garbage') })
    // A fatal alert: protocol_version.
    using old = await behave({ data: send(Buffer.from('15030300020246', 'hex')) })
    await using secure = tls(valid)

    const [first, second, third] = await Promise.all([
      reason(`https://${garbage.host}${SECRET_PATH}`),
      reason(`https://${old.host}${SECRET_PATH}`),
      reason(`http://127.0.0.1:${secure.port}${SECRET_PATH}`),
    ])
    for (const said of [first, second, third]) {
      expect(said).toEndWith('; check http:// or https://')
      expectNoSecret(said)
    }
  })

  test.each(['http', 'https'])('a proxy for %s, however it fails', async (scheme) => {
    const url = `${scheme}://far.invalid${SECRET_PATH}`
    using refusing = await behave(
      answering('HTTP/1.1 407 http://far.invalid/hook/PathSecret PassSecret', '', ''),
    )
    using malformed = await behave(answering('PassSecret', '', ''))
    using closing = await behave({ data: send('') })
    const proxies = [refusing, malformed, closing]
      .map(({ host }) => `http://${USER}${host}/OtherSecret?OtherSecret`)
      .concat(
        ['socks5://h', '://h', 'http://[', 'https://127.0.0.1:1', 'http://nope.invalid'].map(
          (proxy) => proxy.replace('//', `//${USER}`),
        ),
      )
    const runs = proxies.map(async (proxy) => {
      const env = { PLANTSTORE_TOKEN: TOKEN, HTTP_PROXY: proxy, HTTPS_PROXY: proxy }
      const { out, err, code } = await runProgram(['changes', '--url', url], { env })
      expect(code).toBe(1)
      expect(err).toMatch(/a proxy is set|status 407/)
      expectNoSecret(out + err)
    })
    await Promise.all(runs)
  })
})

const secretFile = folder.file('secret')
beforeAll(() => writeFileSync(secretFile, `whsec_${Buffer.alloc(32, 1).toString('base64')}\n`))
const PLANTSTORE_TOKEN = TOKEN
const someFailures = failures.filter(([name]) =>
  /another protocol|length that|unknown coding|switch|redirect|reset/.test(name),
)

describe('a command prints no secret of a URL:', () => {
  test('forward, whatever the receiver answers', async () => {
    const database = folder.file('plants.db')
    await using daemon = await startDaemon({ database, args: ['--keep-changes', '1d'] })
    await daemon.create('{"id":1,"name":"Rose"}')

    for (const [name, behavior] of someFailures) {
      using receiver = await behave(behavior)
      const url = `http://${USER}${receiver.host}${SECRET_PATH}`
      const files = ['--cursor-file', folder.file(name), '--secret-file', secretFile]
      const child = startProgram(['forward', url, ...files, '--database', database])
      await child.prints(() => child.err().includes('next attempt'))
      child.signal('SIGTERM')
      await child.exited

      expect(child.err()).toContain(receiver.host)
      expectNoSecret(child.out() + child.err())
    }
  })

  test('changes, whatever the daemon answers', async () => {
    const runs = someFailures.map(async ([, behavior]) => {
      using daemon = await behave(behavior)
      const url = `http://${daemon.host}${SECRET_PATH}`
      const { out, err, code } = await runProgram(['changes', '--url', url], {
        env: { PLANTSTORE_TOKEN },
      })
      expect(code).toBe(1)
      expect(err).toContain(`no answer from http://${daemon.host}: `)
      expectNoSecret(out + err)
    })
    await Promise.all(runs)
  })

  test('changes --follow, while it waits for the daemon', async () => {
    using daemon = await behave(answering('SSH-2.0-OpenSSH_9.2', ''))
    // The first page is read, then nothing else.
    let pages = 0
    await using front = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () =>
        pages++ === 0
          ? Response.json({ changes: [], next: 'x' })
          : new Response('x', {
              status: 302,
              headers: { location: `http://${daemon.host}/Other` },
            }),
    })
    const url = `http://127.0.0.1:${front.port}${SECRET_PATH}`
    const child = startProgram(['changes', '--follow', '--url', url], { env: { PLANTSTORE_TOKEN } })
    await child.prints(() => child.err().includes('\n'))
    child.signal('SIGTERM')
    await child.exited

    expect(child.err()).toContain(`waiting for the daemon: no answer from ${front.url.origin}: `)
    expectNoSecret(child.out() + child.err())
  })

  test.each([`${TOKEN}\nx`, `${TOKEN}é`])(
    'changes, with a token that no header can hold',
    async (token) => {
      const url = `http://far.invalid${SECRET_PATH}`
      const env = { PLANTSTORE_TOKEN: token }
      const { out, err, code } = await runProgram(['changes', '--url', url], { env })

      expect(code).toBe(2)
      expect(err).toContain('PLANTSTORE_TOKEN must be')
      expectNoSecret(out + err)
    },
  )

  test.each([
    [[`https://h${SECRET_PATH}`]],
    [['help', `https://h${SECRET_PATH}`]],
    [['changes', `https://h${SECRET_PATH}`]],
    [['changes', '--url', `https://${USER}h${SECRET_PATH}`]],
    [['changes', '--url', `://h${SECRET_PATH}`]],
    [
      [
        'forward',
        `ftp://${USER}h${SECRET_PATH}`,
        '--cursor-file',
        'x',
        '--secret-file',
        secretFile,
      ],
    ],
    [['forward', `https://h${SECRET_PATH}`]],
    [['token', `https://h${SECRET_PATH}`]],
  ])('misused as %j', async (args) => {
    const { out, err, code } = await runProgram(args)

    expect(code).toBe(2)
    expectNoSecret(out + err)
  })
})
