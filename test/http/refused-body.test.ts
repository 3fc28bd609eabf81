// Bodies that are refused, or that no route reads: the connection is closed at a limit, else the server would read on.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { TOKEN } from '../harness/daemon'
import { type Answer, connect, head } from '../harness/http'
import { ownDaemon } from '../harness/own-daemon'
import { expectError, storedPlants } from '../harness/plants'

const { daemon, database } = ownDaemon()

const MEGABYTE = 1_000_000
// The limits are 8 MiB, and 4096 chunks with extensions of 16 KB; the kernel and Bun buffer more.
const CLOSED_WITHIN_BYTES = 100 * MEGABYTE
// A body that no route reads is thrown away until the answer: a few milliseconds at gigabytes a second.
const UNREAD_CLOSED_WITHIN_BYTES = 500 * MEGABYTE
const MAX_OWN_MEGABYTES = 200

const authorized = { authorization: `Bearer ${TOKEN}` }
const json = { ...authorized, 'content-type': 'application/json' }
const endless = { 'content-length': String(5000 * MEGABYTE) }
const chunked = { 'transfer-encoding': 'chunked' }

const part = 'x'.repeat(65_536)
const chunk = `10000\r\n${part}\r\n`
/** Chunks of one byte, each with an extension of so many bytes. */
const extended = (bytes: number) => `1;e=${'a'.repeat(bytes)}\r\nx\r\n`.repeat(65_536 / bytes)

type Poured = {
  readonly response: Answer | undefined
  readonly sent: number
  readonly isClosed: boolean
}

/** Sends a head, then a part again and again until the connection is closed or many bytes are sent. */
async function pour(
  start: string,
  more: string,
  most = 2 * UNREAD_CLOSED_WITHIN_BYTES,
): Promise<Poured> {
  await using connection = await connect(daemon.url)
  const response = connection.send(start)
  const bytes = Buffer.from(more)
  let sent = 0
  while (!connection.closed() && sent < most) {
    connection.write(bytes)
    await connection.drained()
    sent += bytes.length
    await Bun.sleep(0)
  }
  const isClosed = connection.closed()
  return {
    response: await Promise.race([response, Bun.sleep(1000).then(() => undefined)]),
    sent,
    isClosed,
  }
}

test.each([
  ['without a token, with a length', head('POST /plants', endless), part, 401],
  ['without a token, in chunks', head('POST /plants', chunked), chunk, 401],
  [
    'without a token, in chunks with extensions',
    head('POST /plants', chunked),
    extended(16_000),
    401,
  ],
  ['beyond the limit, with a length', head('POST /plants', { ...json, ...endless }), part, 413],
  ['beyond the limit, in chunks', head('POST /plants', { ...json, ...chunked }), chunk, 413],
  [
    'with extensions of chunks',
    head('POST /plants', { ...json, ...chunked }),
    extended(16_000),
    413,
  ],
  ['of one-byte chunks', head('POST /plants', { ...json, ...chunked }), extended(4), 413],
  ['of a DELETE', head('DELETE /plants/1', { ...authorized, ...endless }), part, 413],
  [
    'of a method that the path lacks',
    head('PUT /plants', { ...authorized, ...endless }),
    part,
    405,
  ],
  ['of a GET, with a length', head('GET /plants', { ...authorized, ...endless }), part, 200],
  ['of a GET, in chunks', head('GET /health', chunked), chunk, 200],
  ['of a GET of no path', head('GET /nowhere', endless), part, 404],
])(
  'the daemon closes a connection that continues to send a body %s',
  async (_, start, more, status) => {
    const { response, sent, isClosed } = await pour(start, more)

    expect({
      status: response?.status,
      connection: response?.headers.connection,
      isClosed,
    }).toEqual({
      status,
      connection: 'close',
      isClosed: true,
    })
    expect(sent).toBeLessThan(status === 200 ? UNREAD_CLOSED_WITHIN_BYTES : CLOSED_WITHIN_BYTES)
    expect(storedPlants(database)).toEqual([])
  },
)

test('a body may have one chunk per 256 bytes of the limit', async () => {
  const chunksOf = async (count: number) => {
    const stream = new ReadableStream({
      async start(controller) {
        for (const byte of Buffer.from('{"id":1,"name":"Rose"}'.padEnd(count))) {
          controller.enqueue(Uint8Array.of(byte))
          await Bun.sleep(0)
        }
        controller.close()
      },
    })
    return await daemon.fetch('/plants', { method: 'POST', body: stream })
  }

  await expectError(await chunksOf(4200), 41301)
  expect(storedPlants(database)).toEqual([])
  expect((await chunksOf(4000)).status).toBe(200)
})

test('bodies of one-byte chunks take no more memory than others', async () => {
  const ownMegabytes = () =>
    Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${daemon.pid}/status`, 'utf8'))?.[1]) /
    1024
  let peak = 0
  const watch = setInterval(() => {
    peak = Math.max(peak, ownMegabytes())
  }, 20)
  const start = head('POST /plants', { ...json, ...chunked })
  await Promise.all(
    Array.from({ length: 8 }, () => pour(start, '1\r\nx\r\n'.repeat(10_000), 3 * MEGABYTE)),
  )
  clearInterval(watch)

  expect(peak).toBeGreaterThan(0)
  expect(peak).toBeLessThan(MAX_OWN_MEGABYTES)
})
