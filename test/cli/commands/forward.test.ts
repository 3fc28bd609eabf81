import { beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { Webhook } from 'standardwebhooks'
import { backOff } from '../../../src/client/send'
import { runProgram, startProgram, TOKEN } from '../../harness/daemon'
import { ownDaemon } from '../../harness/own-daemon'
import { until } from '../../harness/until'

const { daemon, database, folder } = ownDaemon({ args: ['--keep-changes', '1d'] })
const env = { PLANTSTORE_TOKEN: TOKEN }
const secret = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`
const secretFile = folder.file('secret')
beforeAll(() => writeFileSync(secretFile, `${secret(1)}\n${secret(2)}\n`))
const create = (id: number) => daemon.fetch('/plants', { json: { id, name: 'a' } })
const now = async () => {
  const response = await daemon.fetch('/plants/changes?after=now')
  return ((await response.json()) as { next: string }).next
}

type Received = {
  readonly headers: Record<string, string>
  readonly body: string
  readonly at: number
}
type Payload = {
  readonly type: string
  readonly timestamp: string
  readonly data: { readonly id: number; readonly cursor: string; readonly at: string }
}

/** A receiver of webhooks that answers with these statuses, in turn, then with 204. */
function receive(...responses: readonly (number | ResponseInit)[]) {
  const received: Received[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const response = responses[received.length] ?? 204
      const headers = Object.fromEntries(request.headers)
      received.push({ headers, body: await request.text(), at: performance.now() })
      return new Response(null, typeof response === 'number' ? { status: response } : response)
    },
  })
  const ids = () => received.map(({ body }) => (JSON.parse(body) as Payload).data.id)
  return { url: server.url.href, received, ids, [Symbol.dispose]: () => void server.stop(true) }
}

let files = 0
function forward(url: string, from: readonly string[], cursor: string | null) {
  const cursorFile = folder.file(`cursor-${files++}`)
  if (cursor !== null) writeFileSync(cursorFile, `${cursor}\n`)
  const args = ['forward', url, '--cursor-file', cursorFile, '--secret-file', secretFile, ...from]
  return {
    child: startProgram(args, { env }),
    cursorFile,
    again: () => startProgram(args, { env }),
  }
}

const kept = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '')

test.each([
  ['the database', () => ['--database', database]],
  ['a daemon', () => ['--url', daemon.url]],
])(
  'forward posts each change of %s in order, with a signature that standardwebhooks accepts',
  async (_, from) => {
    using receiver = receive()
    const { child, cursorFile } = forward(receiver.url, from(), await now())
    const first = Math.floor(Math.random() * 1e9)
    const ids = [first, first + 1, first + 2]
    for (const id of ids) await create(id)
    await until('three changes', () => receiver.received.length === 3)
    await until(
      'the last cursor in the file',
      () => kept(cursorFile) === `${receiver.received.at(-1)?.headers['webhook-id']}\n`,
    )
    child.signal('SIGTERM')

    expect(await child.exited).toBe(0)
    expect(receiver.ids()).toEqual(ids)
    for (const { headers, body } of receiver.received) {
      for (const byte of [1, 2]) {
        const payload = new Webhook(secret(byte)).verify(body, headers) as Payload
        expect(payload).toMatchObject({ type: 'plant.create', timestamp: payload.data.at })
        expect(headers['webhook-id']).toBe(payload.data.cursor)
      }
      expect(() => new Webhook(secret(3)).verify(body, headers)).toThrow()
      expect(() => new Webhook(secret(1)).verify(`${body} `, headers)).toThrow()
      expect(headers['content-type']).toBe('application/json')
    }
  },
)

test('forward retries a refused change after Retry-After, and loses none', async () => {
  using receiver = receive(500, 302, { status: 429, headers: { 'retry-after': '3' } })
  const { child } = forward(receiver.url, ['--database', database], await now())
  await create(2_000_000_001)
  await create(2_000_000_002)
  await until('five requests', () => receiver.received.length === 5)
  child.signal('SIGTERM')
  await child.exited

  const [first, second, third, fourth] = receiver.received
  expect(receiver.ids()).toEqual([...Array(4).fill(2_000_000_001), 2_000_000_002])
  expect(
    new Set(receiver.received.slice(0, 4).map(({ headers }) => headers['webhook-id'])).size,
  ).toBe(1)
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(450)
  expect((fourth?.at ?? 0) - (third?.at ?? 0)).toBeGreaterThan(2900)
  expect(child.err()).toMatch(/next attempt in \d+ s: \S+ answered 429\n/)
  expect(Number(fourth?.headers['webhook-timestamp'])).toBeGreaterThan(
    Number(first?.headers['webhook-timestamp']),
  )
})

test('pauses grow, with jitter, up to a limit that applies to Retry-After too', () => {
  const pauseAfter = (tries: number, retryAfter: number, random: number) =>
    backOff({ first: 1, longest: 3600 }, tries, retryAfter, random)
  const pauses = Array.from({ length: 20 }, (_, tries) => pauseAfter(tries, 0, 1))

  expect(pauses.slice(0, 4)).toEqual([1, 2, 4, 8])
  expect(pauses.at(-1)).toBe(3600)
  expect(pauseAfter(3, 0, 0)).toBe(4)
  expect(pauseAfter(0, 60, 0.5)).toBe(60)
  expect(pauseAfter(0, 86_400, 0.5)).toBe(3600)
})

test('forward ends at 410, and counts the change as not delivered', async () => {
  using receiver = receive(410)
  const start = await now()
  const { child, cursorFile } = forward(receiver.url, ['--database', database], start)
  await create(2_000_000_010)

  expect(await child.exited).toBe(0)
  expect(child.err()).toContain('410')
  expect(kept(cursorFile)).toBe(`${start}\n`)
})

test('forward delivers each change at least once, in order, even if it is killed', async () => {
  using receiver = receive()
  const first = forward(receiver.url, ['--url', daemon.url], await now())
  let { child } = first
  const from = 2_000_001_000
  for (let kills = 0; kills < 4; kills++) {
    for (let id = 0; id < 25; id++) await create(from + kills * 25 + id)
    await until('the next change', () => receiver.received.length > kills * 25)
    child.signal('SIGKILL')
    await child.exited
    child = first.again()
  }
  await until('the last change', () => receiver.ids().includes(from + 99))
  child.signal('SIGTERM')
  await child.exited

  // A kill may repeat the change that was being sent; nothing else.
  const repeats = receiver.ids().filter((id, index, ids) => id === ids[index - 1])
  expect(repeats.length).toBeLessThanOrEqual(4)
  const once = receiver.ids().filter((id, index, ids) => id !== ids[index - 1])
  expect(once).toEqual(Array.from({ length: 100 }, (_, index) => from + index))
})

test('--after now saves its start, so that a restart misses nothing', async () => {
  using receiver = receive()
  const from = ['--database', database, '--after', 'now']
  const { child, cursorFile, again } = forward(receiver.url, from, null)
  const start = await now()
  await until('the first cursor in the file', () => kept(cursorFile) === `${start}\n`)
  child.signal('SIGKILL')
  await child.exited
  await create(2_000_002_000)
  const second = again()
  await until('the change', () => receiver.received.length === 1)
  second.signal('SIGTERM')
  await second.exited

  expect(receiver.ids()).toEqual([2_000_002_000])
})

test('an unknown cursor passed to --after is not saved', async () => {
  using receiver = receive()
  const { child, cursorFile } = forward(
    receiver.url,
    ['--database', database, '--after', 'nwo'],
    null,
  )
  expect(await child.finished).toBe(1)
  expect(child.err()).toContain('expected a cursor, or "now"')
  expect(existsSync(cursorFile)).toBe(false)
})

test('wrong usage of forward is refused in one line', async () => {
  const weak = folder.file('weak')
  writeFileSync(weak, 'whsec_c2hvcnQ=\n')
  const empty = folder.file('empty')
  writeFileSync(empty, '')
  const raw = folder.file('raw')
  writeFileSync(raw, '\x1b[31m0123456789abcdef-7\n')
  const url = 'https://example.org/hook'
  const cursor = ['--cursor-file', folder.file('none')]
  const run = async (...args: readonly string[]) => {
    const { err, code } = await runProgram(['forward', ...args, '--database', database])
    expect(err).toMatch(/^(?!.*see .*see ).+\n$/)
    return [code, err]
  }

  for (const args of [
    [url, '--secret-file', secretFile],
    [url, ...cursor],
    [...cursor, '--secret-file', secretFile],
    ['ftp://example.org', ...cursor, '--secret-file', secretFile],
    [url, ...cursor, '--secret-file', weak],
    [url, ...cursor, '--secret-file', empty],
  ]) {
    expect(await run(...args)).toEqual([2, expect.any(String)])
  }
  expect(await run(url, ...cursor, '--secret-file', folder.file('nowhere'))).toEqual([
    1,
    expect.stringContaining('no such file'),
  ])
  const nowhere = ['--cursor-file', folder.file('nowhere/cursor')]
  expect(await run(url, ...nowhere, '--secret-file', secretFile)).toEqual([
    1,
    expect.stringContaining('nowhere/cursor: no such file or folder'),
  ])
  for (const file of [empty, raw]) {
    expect(await run(url, '--cursor-file', file, '--secret-file', secretFile)).toEqual([
      1,
      `plantstore: ${file} has no cursor; remove it to begin with the oldest change\n`,
    ])
  }
})

test('forward reports an outage of its source at once, and the recovery later', async () => {
  using receiver = receive()
  // Whatever had the port a moment ago.
  const gone = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port } = gone
  await gone.stop(true)
  const url = `http://127.0.0.1:${port}`
  const { child } = forward(receiver.url, ['--url', url], await now())

  const waiting = `plantstore: waiting for the daemon: nothing is listening at ${url}; is the daemon running?\n`
  expect(await child.prints(() => child.err().includes(waiting))).toBe(true)
  await using source = Bun.serve({
    port: Number(port),
    hostname: '127.0.0.1',
    fetch: (request) => {
      const { pathname, search } = new URL(request.url)
      return daemon.fetch(`${pathname}${search}`, { headers: Object.fromEntries(request.headers) })
    },
  })
  const back = `plantstore: the daemon at ${source.url.origin} answers again\n`
  expect(await child.prints(() => child.err().includes(back))).toBe(true)
  await create(2_000_003_000)
  await until('the change', () => receiver.ids().includes(2_000_003_000))
  child.signal('SIGTERM')

  expect(await child.exited).toBe(0)
  expect(child.err().split('waiting for the daemon')).toHaveLength(2)
})
