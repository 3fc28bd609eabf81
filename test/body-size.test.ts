import { expect, test } from 'bun:test'
import { startDaemon, TOKEN, temporaryFolder } from './harness/daemon'
import { startOwnDaemon } from './harness/own-daemon'
import { expectError, storedPlants } from './harness/plants'
import { connect, head } from './harness/raw'

const LIMIT = 1000

const { daemon, database } = await startOwnDaemon({ args: ['--max-body-bytes', String(LIMIT)] })

const ids = () => storedPlants(database).map(({ id }) => id)
const bodyOf = (id: number, bytes: number) => `{"id":${id},"name":"Lily"}`.padEnd(bytes)

// A stream has no length that could be sent ahead.
const streamOf = (text: string) =>
  new ReadableStream({
    async start(controller) {
      for (let at = 0; at < text.length; at += 100) {
        controller.enqueue(Buffer.from(text.slice(at, at + 100)))
        await Bun.sleep(0)
      }
      controller.close()
    },
  })

test('takes a body of exactly the limit, and not one byte more', async () => {
  expect((await daemon.create(bodyOf(1, LIMIT))).status).toBe(200)
  await expectError(await daemon.create(bodyOf(2, LIMIT + 1)), 41301)
  expect(ids()).toEqual([1n])
})

test('counts the bytes of a body that comes in chunks', async () => {
  const send = (text: string) => daemon.fetch('/plants', { method: 'POST', body: streamOf(text) })

  expect((await send(bodyOf(3, LIMIT))).status).toBe(200)
  await expectError(await send(bodyOf(4, LIMIT + 1)), 41301)
  expect(ids()).not.toContain(4n)
})

test('counts bytes, not characters', async () => {
  const name = 'ö'.repeat(LIMIT / 2)

  await expectError(await daemon.create(`{"id":5,"name":"${name}"}`), 41301)
  expect(ids()).not.toContain(5n)
})

test('refuses a body that is too large before it is sent', async () => {
  await using connection = await connect(daemon.url)
  connection.send(
    head('POST /plants', {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      'content-length': '1000000000',
    }),
  )

  expect(await connection.receive(/\}$/)).toContain('"error":41301')
})

test('keeps nobody waiting for long bodies that are announced and do not come', async () => {
  using otherFolder = temporaryFolder()
  await using other = await startDaemon({ database: otherFolder.file('plants.db') })
  await using stack = new AsyncDisposableStack()
  for (let n = 0; n < 40; n++) {
    const connection = stack.use(await connect(other.url))
    connection.send(
      head('POST /plants', {
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
        'content-length': String(1024 * 1024),
      }),
    )
    connection.send('{')
  }
  await Bun.sleep(100)

  expect((await other.create(bodyOf(1, 50))).status).toBe(200)
  expect((await other.create(bodyOf(2, 100_000))).status).toBe(200)
})

test('goes on after a body that ended early', async () => {
  {
    await using connection = await connect(daemon.url)
    connection.send(
      head('POST /plants', {
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
        'content-length': '500',
      }),
    )
    connection.send('{"id":6,"name":"Lily"}')
  }

  expect((await daemon.create(bodyOf(7, 50))).status).toBe(200)
  expect(ids()).not.toContain(6n)
})
