import { expect, test } from 'bun:test'
import { createSendRequest } from '../../src/outbound/request'
import { makeCa } from '../harness/certificates'
import { runProgram, TOKEN } from '../harness/daemon'
import { own } from '../harness/own'
import { ownFolder } from '../harness/own-folder'
import { startProxy } from '../harness/proxy'

const folder = ownFolder()
const ca = own(() => makeCa(folder, 'ca'))
const NONE = { http: '', https: '', except: '' }
// A name that is not this machine's, so that a proxy is asked; no server has it.
const FAR = 'plants.invalid'

const serve = (tls?: { cert: string; key: string }) =>
  Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    ...(tls ? { tls } : {}),
    fetch: () => Response.json({ changes: [], next: 'x' }),
  })

/** The explanation of a missing answer. */
const reason = (url: string, proxies = NONE, seconds = 30): Promise<string> =>
  createSendRequest(proxies)(url, { target: 'daemon', seconds }).then(
    ({ status }) => `answered ${status}`,
    (error: Error) => error.message,
  )

test('says that a port speaks HTTPS, or plain HTTP', async () => {
  await using secure = serve(ca.sign('DNS:localhost,IP:127.0.0.1'))
  await using plain = serve()
  const [one, other] = [`127.0.0.1:${secure.port}`, `127.0.0.1:${plain.port}`]

  expect(await reason(`http://${one}/x`)).toBe(`${one} speaks HTTPS; use https://${one}`)
  expect(await reason(`https://${other}/x`)).toBe(`${other} speaks plain HTTP; use http://${other}`)
})

test('says how to trust a certificate, and what else may be wrong with one', async () => {
  await using unknown = serve(ca.sign('IP:127.0.0.1'))
  await using expired = serve(ca.sign('IP:127.0.0.1', -1))
  const at = (port: number | undefined) => `https://127.0.0.1:${port}`

  expect(await reason(at(unknown.port))).toBe(
    `the certificate of ${at(unknown.port)} is signed by an unknown CA; to trust it, set NODE_EXTRA_CA_CERTS to the file of the CA's certificate (PEM)`,
  )
  expect(await reason(at(expired.port))).toBe(`the certificate of ${at(expired.port)} has expired`)
})

test('says that nothing listens, that nothing answers, and that a server closes the connection', async () => {
  using silent = Bun.listen({ port: 0, hostname: '127.0.0.1', socket: { data() {} } })
  using rude = Bun.listen({
    port: 0,
    hostname: '127.0.0.1',
    socket: { data() {}, open: (socket) => void socket.end() },
  })

  expect(await reason('http://127.0.0.1:1/secret')).toBe(
    'nothing is listening at http://127.0.0.1:1; is the daemon running?',
  )
  expect(await reason('http://nope.invalid/secret')).toBe('cannot resolve host nope.invalid')
  expect(await reason(`http://127.0.0.1:${silent.port}/secret`, NONE, 0.2)).toBe(
    `no answer from http://127.0.0.1:${silent.port} within 0.2 s`,
  )
  const closed = await reason(`http://127.0.0.1:${rude.port}/secret`)
  expect(closed).toStartWith(`no answer from http://127.0.0.1:${rude.port}: `)
  expect(closed).not.toContain('verbose')
})

test('the time limit covers the body, unless it is a stream', async () => {
  await using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            controller.enqueue('x')
            await Bun.sleep(1000)
            controller.close()
          },
        }),
      ),
  })
  const url = server.url.href
  expect(await reason(url, NONE, 0.3)).toContain('within 0.3 s')

  const ask = createSendRequest(NONE)
  const answer = await ask(url, { target: 'daemon', seconds: 0.3, isStream: true })
  expect(await answer.text()).toBe('x')
})

test('a signal ends it with its own reason', async () => {
  using silent = Bun.listen({ port: 0, hostname: '127.0.0.1', socket: { data() {} } })
  const controller = new AbortController()
  const asked = createSendRequest(NONE)(`http://127.0.0.1:${silent.port}`, {
    target: 'daemon',
    seconds: 30,
    signal: controller.signal,
  })
  controller.abort('enough')

  expect(await asked.catch((error) => error)).toBe('enough')
})

test.each(['http', 'https'])('says that a proxy refuses %s', async (scheme) => {
  using proxy = await startProxy('407 Proxy Authentication Required')
  const proxies = { http: proxy.url, https: proxy.url, except: '' }

  expect(await reason(`${scheme}://${FAR}/`, proxies)).toBe(
    `the proxy at ${proxy.url} refused: 407 Proxy Authentication Required; to bypass it, add ${FAR} to NO_PROXY`,
  )
})

test('says that a proxy is not there, and keeps its password to itself', async () => {
  const of = (http: string) => ({ http, https: http, except: '' })
  const hint = `; to bypass it, add ${FAR} to NO_PROXY`

  expect(await reason(`http://${FAR}/`, of('http://me:secret@127.0.0.1:1'))).toBe(
    `the proxy at http://127.0.0.1:1 refused: nothing is listening there${hint}`,
  )
  expect(await reason(`http://${FAR}/`, of('http://nope.invalid:1'))).toBe(
    `the proxy at http://nope.invalid:1 refused: cannot resolve host nope.invalid${hint}`,
  )
  expect(await reason(`http://${FAR}/`, of('socks5://127.0.0.1:1'))).toBe(
    `the proxy at socks5://127.0.0.1:1 refused: only http:// and https:// proxies are supported${hint}`,
  )
})

test('asks other machines through the proxy', async () => {
  using proxy = await startProxy('200 OK')
  const env = { ...proxy.env, PLANTSTORE_TOKEN: TOKEN }
  await runProgram(['changes', '--url', `http://${FAR}`], { env })
  expect(proxy.seen()).toStartWith(`GET http://${FAR}/plants/changes`)
})
