// No command prints a secret of a URL, whatever a receiver, a daemon or a proxy answers. test/outbound/request.test.ts
// has the messages.
import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { PATIENCE_MS, runProgram, startDaemon, startProgram } from '../harness/daemon'
import { ownFolder } from '../harness/own-folder'
import { type Behavior, behave } from '../harness/tcp-server'

setDefaultTimeout(PATIENCE_MS)

const folder = ownFolder()
const secretFile = folder.file('secret')
beforeAll(() => writeFileSync(secretFile, `whsec_${Buffer.alloc(32, 1).toString('base64')}\n`))

const SECRET_PATH = '/hook/PathSecret?s=QuerySecret'
const USER = 'UserSecret:PassSecret@'
const TOKEN = 'TokenSecret0123456789'
const env = { PLANTSTORE_TOKEN: TOKEN }

const expectNoSecret = (text: string): void => expect(text).not.toContain('Secret')

const behaviors: [name: string, Behavior][] = [
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ['a redirect loop', `HTTP/1.1 302 Found\r\nLocation: ${SECRET_PATH}\r\n\r\n`],
  ['a redirect to no URL', 'HTTP/1.1 302 Found\r\nLocation: http://[OtherSecret\r\n\r\n'],
]

test.each(behaviors)('forward prints no secret: %s', async (name, behavior) => {
  const database = folder.file('plants.db')
  await using daemon = await startDaemon({ database, args: ['--keep-changes', '1d'] })
  await daemon.create(1)
  using receiver = await behave(behavior)
  const url = `http://${USER}${receiver.host}${SECRET_PATH}`
  const files = ['--cursor-file', folder.file(name), '--secret-file', secretFile]
  const child = startProgram(['forward', url, ...files, '--database', database])
  await child.prints(() => child.err().includes('next attempt'))
  await child.stop()

  expect(child.err()).toContain(receiver.host)
  expectNoSecret(child.out() + child.err())
})

test.each(behaviors)('changes prints no secret: %s', async (_, behavior) => {
  using daemon = await behave(behavior)
  const url = `http://${daemon.host}${SECRET_PATH}`
  const { out, err, code } = await runProgram(['changes', '--url', url], { env })

  expect(code).toBe(1)
  expect(err).toContain(`no answer from http://${daemon.host}: `)
  expectNoSecret(out + err)
})

test('changes --follow prints no secret while it waits for the daemon', async () => {
  using daemon = await behave('SSH-2.0-OpenSSH_9.2\r\n')
  // The first page is read, then nothing else.
  let pages = 0
  const location = `http://${daemon.host}/OtherSecret`
  await using front = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () =>
      pages++ === 0
        ? Response.json({ changes: [], next: 'x' })
        : new Response('x', { status: 302, headers: { location } }),
  })
  const url = `http://127.0.0.1:${front.port}${SECRET_PATH}`
  const child = startProgram(['changes', '--follow', '--url', url], { env })
  await child.prints(() => child.err().includes('\n'))
  await child.stop()

  expect(child.err()).toContain(`waiting for the daemon: no answer from ${front.url.origin}: `)
  expectNoSecret(child.out() + child.err())
})

test.each(['http', 'https'])(
  'changes prints no secret of a proxy for %s, however it fails',
  async (scheme) => {
    using refusing = await behave(
      'HTTP/1.1 407 http://far.invalid/hook/PathSecret PassSecret\r\n\r\n',
    )
    using malformed = await behave('PassSecret')
    using closing = await behave('')
    const hosts = [refusing, malformed, closing].map(
      ({ host }) => `http://${USER}${host}/OtherSecret`,
    )
    const others = [
      `socks5://${USER}h`,
      `://${USER}h`,
      `http://${USER}[`,
      `http://${USER}nope.invalid`,
    ]
    const runs = [...hosts, ...others].map(async (proxy) => {
      const { out, err, code } = await runProgram(
        ['changes', '--url', `${scheme}://far.invalid${SECRET_PATH}`],
        { env: { ...env, HTTP_PROXY: proxy, HTTPS_PROXY: proxy } },
      )
      expect(code).toBe(1)
      expect(err).toMatch(/a proxy is set|status 407/)
      expectNoSecret(out + err)
    })
    await Promise.all(runs)
  },
)

test('changes does not print a token that no header can hold', async () => {
  for (const token of [`${TOKEN}\nx`, `${TOKEN}é`]) {
    const args = ['changes', '--url', `http://far.invalid${SECRET_PATH}`]
    const { out, err, code } = await runProgram(args, { env: { PLANTSTORE_TOKEN: token } })

    expect(code).toBe(2)
    expect(err).toContain('PLANTSTORE_TOKEN must be')
    expectNoSecret(out + err)
  }
})

test.each([
  [[`https://h${SECRET_PATH}`]],
  [['help', `https://h${SECRET_PATH}`]],
  [['changes', `https://h${SECRET_PATH}`]],
  [['changes', '--url', `https://${USER}h${SECRET_PATH}`]],
  [['changes', '--url', `://h${SECRET_PATH}`]],
  [['forward', `ftp://${USER}h${SECRET_PATH}`, '--cursor-file', 'x', '--secret-file', 'x']],
  [['forward', `https://h${SECRET_PATH}`]],
  [['token', `https://h${SECRET_PATH}`]],
])('a command line with a mistake prints no secret: %j', async (args) => {
  const { out, err, code } = await runProgram(args)

  expect(code).toBe(2)
  expectNoSecret(out + err)
})
