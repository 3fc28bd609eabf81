import { expect, test } from 'bun:test'
import { startTemporary, TOKEN } from '../harness/daemon'
import { connect, head } from '../harness/http'
import { ownDaemon } from '../harness/own-daemon'

const { daemon } = ownDaemon({ args: ['--max-body-bytes', '1000'] })

const bodyOf = (id: number, bytes: number) => `{"id":${id},"name":"Lily"}`.padEnd(bytes)

test.each([
  ['64 KiB by 300 clients', 64 * 1024, 300],
  ['1 MiB by 40 clients', 1024 * 1024, 40],
])(
  'the daemon makes no client wait for announced bodies that do not arrive: %s',
  async (_, length, clients) => {
    await using other = await startTemporary()
    await using stack = new AsyncDisposableStack()
    for (let n = 0; n < clients; n++) {
      const connection = stack.use(await connect(other.url))
      connection.write(
        head('POST /plants', {
          authorization: `Bearer ${TOKEN}`,
          'content-type': 'application/json',
          'content-length': String(length),
        }),
      )
      connection.write('{')
    }
    await Bun.sleep(100)

    expect((await other.create(bodyOf(1, 50))).status).toBe(200)
    expect((await other.create(bodyOf(2, 60_000))).status).toBe(200)
    expect((await other.create(bodyOf(3, 100_000))).status).toBe(200)
  },
)

const refused = [
  ['40101', 'POST /plants', { 'content-type': 'application/json' }],
  ['40401', 'POST /nowhere', {}],
  ['40501', 'DELETE /plants', {}],
  ['41501', 'PUT /plants/1', { authorization: `Bearer ${TOKEN}` }],
] as const
const refusedBodies = refused.flatMap(([error, line, headers]) =>
  ['1.0', '1.1'].map((version) => ({ error, line, headers, version, bytes: 900_000 })),
)

test.each(refusedBodies)(
  'the daemon reads a refused body to its end, so that its sender sees $error: $line, $bytes bytes by HTTP/$version',
  async ({ error, line, headers, version, bytes }) => {
    const closing = { ...headers, connection: 'close', 'content-length': String(bytes) }
    await using connection = await connect(daemon.url)
    connection.write(head(line, closing).replace('HTTP/1.1', `HTTP/${version}`))
    const part = 'x'.repeat(10_000)
    for (let sent = 0; sent < bytes; sent += part.length) {
      expect(await connection.receive(/^/)).toBe('')
      connection.write(part)
      await Bun.sleep(1)
    }

    expect(await connection.receive(/\}$/)).toContain(`"error":${error}`)
  },
)

test('the daemon responds to a refused body that does not arrive', async () => {
  await using connection = await connect(daemon.url)
  connection.write(head('POST /plants', { 'content-length': '1000' }))
  connection.write('x')

  expect(await connection.receive(/\}$/)).toContain('"error":40101')
})
