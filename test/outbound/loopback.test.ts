// A token for this machine never reaches a proxy.
import { beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { hasIpv6 } from '../harness/commands'
import { runProgram, startProgram, TOKEN } from '../harness/daemon'
import { ownDaemon } from '../harness/own-daemon'
import { startProxy } from '../harness/proxy'

const args = ['--keep-changes', '1d', '--host', hasIpv6 ? '::' : '0.0.0.0']
const { daemon, folder } = ownDaemon({ args })
let id = 1
const create = () =>
  fetch(`http://127.0.0.1:${daemon.port}/plants`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ id: id++, name: 'Rose' }),
  })
beforeAll(async () => {
  await create()
  writeFileSync(folder.file('secret'), `whsec_${Buffer.alloc(32, 1).toString('base64')}\n`)
})

const hosts = ['127.0.0.1', '127.1.2.3', 'localhost', ...(hasIpv6 ? ['[::1]'] : [])]

test.each(hosts)('the proxy gets neither a token nor a request for %s', async (host) => {
  using proxy = await startProxy()
  const url = `http://${host}:${daemon.port}`
  const env = { ...proxy.env, PLANTSTORE_TOKEN: TOKEN }

  const printed = await runProgram(['changes', '--url', url], { env })
  expect(printed).toMatchObject({ code: 0, err: '', out: expect.stringContaining('Rose') })

  await using follower = startProgram(['changes', '--follow', '--url', url], { env })
  await follower.prints(() => follower.out().includes('Rose'))
  expect(await follower.stop('SIGINT')).toBe(130)

  const received = Promise.withResolvers<string | null>()
  await using receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      received.resolve(request.headers.get('webhook-id'))
      return new Response()
    },
  })
  const files = [
    '--cursor-file',
    folder.file(`cursor-${host}`),
    '--secret-file',
    folder.file('secret'),
  ]
  const words = ['forward', receiver.url.href, ...files, '--url', url]
  await using forward = startProgram(words, { env })
  expect(await received.promise).not.toBeNull()
  expect(await forward.stop()).toBe(0)

  const health = await runProgram(['health', '--host', host, '--port', String(daemon.port)], {
    env,
  })
  expect(health).toMatchObject({ code: 0, err: '' })

  expect(proxy.seen()).toBe('')
})
