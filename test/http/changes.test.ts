import { expect, test } from 'bun:test'
import type { ChangeLogEntry } from '../../src/change-log/change-log'
import { runProgram, startDaemon, TOKEN } from '../harness/daemon'
import { readEvents, take } from '../harness/events'
import { request } from '../harness/http'
import { openNonReaders } from '../harness/non-readers'
import { ownDaemon } from '../harness/own-daemon'
import { expectError } from '../harness/plants'
import { until } from '../harness/until'

const KEEP = ['--keep-changes', '1d']
const { daemon, folder, createToken, revokeToken } = ownDaemon({ args: KEEP })

type Page = { readonly changes: readonly ChangeLogEntry[]; readonly next: string }

async function read(query = '', of = daemon): Promise<Page> {
  const answer = await of.fetch(`/plants/changes${query}`)
  expect(answer.status).toBe(200)
  return (await answer.json()) as Page
}

const now = async () => (await read('?after=now')).next

type Following = {
  readonly after?: string
  readonly headers?: Record<string, string>
  readonly of?: typeof daemon
}

async function follow({ after, headers = {}, of = daemon }: Following = {}) {
  const query = after === undefined ? '' : `?after=${after}`
  const answer = await of.fetch(`/plants/changes${query}`, {
    headers: { accept: 'text/event-stream', ...headers },
  })
  expect(answer.status).toBe(200)
  return { answer, events: readEvents(answer) }
}

const create = (id: number, name = 'a') => daemon.fetch('/plants', { json: { id, name } })

test('lists what changed, by whom, from what to what, with exact ids', async () => {
  const start = await now()
  const path = '/plants/-9223372036854775808'
  const headers = { 'x-request-id': 'walk-7' }
  await daemon.fetch('/plants', {
    method: 'POST',
    body: '{"id":-9223372036854775808,"name":"a","tag":"t"}',
    headers,
  })
  await daemon.fetch(path, { method: 'PUT', json: { name: 'b' } })
  await daemon.fetch(path, { method: 'PATCH', json: { tag: 'u' } })
  await daemon.fetch(path, { method: 'PATCH', json: { tag: 'u' } })
  await daemon.fetch(path, { method: 'DELETE' })

  const answer = await daemon.fetch(`/plants/changes?after=${start}`)
  const text = await answer.text()
  const { changes, next }: Page = JSON.parse(text)

  expect(text.match(/"id":-9223372036854775808,/g)).toHaveLength(changes.length)
  expect(changes.map(({ action, before, after }) => [action, before, after]).slice(0, 3)).toEqual([
    ['create', null, { name: 'a', tag: 't' }],
    ['replace', { name: 'a', tag: 't' }, { name: 'b' }],
    ['patch', { name: 'b' }, { name: 'b', tag: 'u' }],
  ])
  expect(changes.at(-1)).toMatchObject({ action: 'delete', after: null, cursor: next })
  expect(changes[0]).toMatchObject({
    token: expect.any(String),
    address: '127.0.0.1',
    request: 'walk-7',
  })
  expect(changes[1]?.request).toBeNull()
  expect(Date.parse(changes[0]?.at ?? '')).toBeLessThanOrEqual(Date.now())
})

test('pages begin after a cursor, and the last one has a cursor to go on from', async () => {
  const start = await now()
  for (let id = 100; id < 105; id++) await create(id)

  const ids = []
  let after = start
  for (let pages = 0; pages < 4; pages++) {
    const page = await read(`?after=${after}&limit=2`)
    ids.push(...page.changes.map(({ id }) => Number(id)))
    after = page.next
  }

  expect(ids).toEqual([100, 101, 102, 103, 104])
  expect(after).toBe(await now())
  expect((await read('?after=now')).changes).toEqual([])
  expect((await read('?limit=1')).changes[0]?.before).toBeNull()
})

test('the history of all plants has the newest first, page by page', async () => {
  const start = await now()
  for (let id = 210; id < 213; id++) await create(id)

  const ids = []
  let after = ''
  for (let pages = 0; pages < 2; pages++) {
    const page = (await (await daemon.fetch(`/plants/history?limit=2${after}`)).json()) as Page
    ids.push(...page.changes.map(({ id }) => Number(id)))
    after = `&after=${page.next}`
  }

  expect(ids.slice(0, 3)).toEqual([212, 211, 210])
  const older = await daemon.fetch(`/plants/history?after=${start}&limit=1`)
  expect(((await older.json()) as Page).changes.map(({ id }) => Number(id))).not.toContain(210)
})

test('the history of a plant has the newest first, page by page, though the plant is gone', async () => {
  await create(200)
  for (const name of ['b', 'c'])
    await daemon.fetch('/plants/200', { method: 'PUT', json: { name } })
  await create(201)
  await daemon.fetch('/plants/200', { method: 'DELETE' })

  const history = async (query: string) =>
    (await (await daemon.fetch(`/plants/200/history${query}`)).json()) as Page
  const first = await history('?limit=3')
  const second = await history(`?after=${first.next}`)

  const names = (page: Page) => page.changes.map(({ after }) => after?.name)
  expect(names(first)).toEqual([undefined, 'c', 'b'])
  expect(names(second)).toEqual(['a'])
  expect(second.next).toBeNull()
  expect(await (await daemon.fetch('/plants/404/history')).json()).toEqual({
    changes: [],
    next: null,
  })
})

test('a stream has each change as an event, and Last-Event-ID overrides the parameter after', async () => {
  const start = await now()
  const first = await follow({ after: 'now' })
  await create(300)
  await daemon.fetch('/plants/300', { method: 'DELETE' })

  const { value: opening } = await first.events.next()
  const [created, deleted] = await take(first.events, 2)
  await first.events.return()
  const again = await follow({ after: start, headers: { 'last-event-id': created?.id ?? '' } })
  const [resumed] = await take(again.events, 1)
  await again.events.return()

  expect(first.answer.headers.get('content-type')).toBe('text/event-stream')
  expect(first.answer.headers.get('x-accel-buffering')).toBe('no')
  expect(opening).toMatchObject({ id: start, retry: expect.stringMatching(/^\d+$/) })
  expect(opening).not.toHaveProperty('data')
  expect([created?.event, deleted?.event]).toEqual(['create', 'delete'])
  const { changes } = JSON.parse(
    await (await daemon.fetch(`/plants/changes?after=${start}`)).text(),
  )
  expect([created?.change, deleted?.change]).toEqual(changes)
  expect(created?.id).toBe(changes[0].cursor)
  expect(resumed).toEqual(deleted)
})

test('a stream that is far behind catches up, then has new changes', async () => {
  const start = await now()
  for (let from = 10_000; from < 13_000; from += 1000) {
    const plants = Array.from({ length: 1000 }, (_, index) => ({ id: from + index, name: 'a' }))
    await daemon.fetch('/plants/batch', { json: { plants } })
  }
  const { events } = await follow({ after: start })
  const behind = await take(events, 2999)
  await create(13_000)
  const [last, live] = await take(events, 2)
  await events.return()

  expect(behind.map(({ change }) => change.id)).toEqual(
    Array.from({ length: 2999 }, (_, index) => 10_000 + index),
  )
  expect([last?.change.id, live?.change.id]).toEqual([12_999, 13_000])
})

test('a change by another process reaches a stream within half a second', async () => {
  const { events } = await follow({ after: 'now' })
  const file = folder.file('more.ndjson')
  await Bun.write(file, '{"id":400,"name":"imported"}\n')
  const arrival = take(events, 1).then((found) => ({ found, at: Date.now() }))
  const { code } = await runProgram(['import', file, '--database', folder.file('plants.db')])
  const { found, at } = await arrival
  await events.return()

  expect(code).toBe(0)
  expect(found[0]?.change).toMatchObject({ id: 400, token: null, request: 'import' })
  // Twice that, for a machine that is busy.
  expect(at - Date.parse(found[0]?.change.at ?? '')).toBeLessThan(1000)
})

test('a HEAD has the headers of the stream, and ends', async () => {
  const headers = { accept: 'text/event-stream' }
  const answer = await daemon.fetch('/plants/changes', { method: 'HEAD', headers })

  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('text/event-stream')
  expect(await answer.text()).toBe('')
})

test.each([
  ['anything', '*/*'],
  ['something unknown', 'image/png'],
  ['events with a weight of 0', 'text/event-stream;q=0'],
  ['JSON rather than events', 'application/json, text/event-stream;q=0.1'],
  ['something malformed', '*'],
])('answers JSON to a client that accepts %s', async (_, accept) => {
  const answer = await daemon.fetch('/plants/changes?after=now', { headers: { accept } })

  expect(answer.headers.get('content-type')).toBe('application/json')
})

test('streams to a client whose Accept has parameters', async () => {
  const accept = 'text/event-stream;charset=utf-8;q=0.9, */*;q=0.1'
  const headers = { accept }
  const answer = await daemon.fetch('/plants/changes?after=now', { method: 'HEAD', headers })

  expect(answer.headers.get('content-type')).toBe('text/event-stream')
})

test.each([
  ['a malformed cursor', '?after=1', 40002],
  ['an empty cursor', '?after=', 40002],
  ['a cursor of 10 kB', `?after=${'a'.repeat(10_000)}`, 40002],
  ['an unknown parameter', '?tag=a', 40002],
  ['a repeated parameter', '?limit=1&limit=2', 40002],
  ['a limit of 0', '?limit=0', 40002],
] as const)('refuses %s, for a stream too', async (_, query, error) => {
  for (const accept of ['application/json', 'text/event-stream']) {
    await expectError(await daemon.fetch(`/plants/changes${query}`, { headers: { accept } }), error)
  }
  await expectError(await daemon.fetch(`/plants/1/history${query}`), error)
})

test('answers 41001 to a cursor of another store or of the future', async () => {
  await using other = await startDaemon({ args: KEEP, database: folder.file('other.db') })
  const { next: foreign } = await read('?after=now', other)
  const future = (await now()).replace(/\d+$/, '900000000')

  for (const cursor of [foreign, future]) {
    for (const accept of ['application/json', 'text/event-stream']) {
      const answer = await daemon.fetch(`/plants/changes?after=${cursor}`, { headers: { accept } })
      await expectError(answer, 41001)
    }
  }
})

test('rejects a URL of 10 MB before it reaches the store', async () => {
  const answer = await daemon.fetch(`/plants/changes?after=${'a'.repeat(10_000_000)}`).then(
    ({ status }) => status,
    () => 0,
  )

  expect([0, 414, 431]).toContain(answer)
  expect((await daemon.fetch('/health')).status).toBe(200)
})

test('answers 40403 to pages and streams without a change log, and names the option', async () => {
  await using plain = await startDaemon({ database: folder.file('plain.db') })

  for (const path of ['/plants/changes', '/plants/history', '/plants/1/history']) {
    const answer = await plain.fetch(path)
    expect(await answer.clone().text()).toContain('--keep-changes')
    await expectError(answer, 40403)
  }
})

test('a daemon without the option keeps the log as it was', async () => {
  const database = folder.file('kept.db')
  const first = await startDaemon({ args: KEEP, database })
  await first.create('{"id":1,"name":"Rose"}')
  const before = await (await first.fetch('/plants/changes')).json()
  await first.stop()

  // An empty variable counts as unset.
  for (const env of [{}, { PLANTSTORE_KEEP_CHANGES: '' }]) {
    const second = await startDaemon({ database, env })
    expect(await (await second.fetch('/plants/changes')).json()).toEqual(before)
    await second.stop()
    expect(second.err()).not.toContain('changes-ended')
  }
})

test('only "off" ends the change log, and says how many entries it had; a later one refuses its cursors', async () => {
  const database = folder.file('ended.db')
  const first = await startDaemon({ args: KEEP, database })
  for (const id of [1, 2, 3]) await first.create(`{"id":${id},"name":"Rose"}`)
  const { next } = (await (await first.fetch('/plants/changes?after=now')).json()) as {
    next: string
  }
  await first.kill()

  const second = await startDaemon({ args: ['--keep-changes', 'off'], database })
  expect(await second.event('changes-ended')).toMatchObject({ level: 'warn', entries: 3 })
  await expectError(await second.fetch('/plants/changes'), 40403)
  await second.kill()

  await using third = await startDaemon({ args: KEEP, database })
  await expectError(await third.fetch(`/plants/changes?after=${next}`), 41001)
})

test('a read token may follow; its streams end within a second of its expiry, and others go on', async () => {
  const reader = await createToken('reader', '--scope', 'read')
  const theirs = await follow({ after: 'now', headers: { authorization: `Bearer ${reader}` } })
  const ours = await follow({ after: 'now' })
  await create(500)
  await take(theirs.events, 1)

  await revokeToken('reader')
  const revoked = performance.now()
  expect((await theirs.events.next()).done).toBe(true)
  expect(performance.now() - revoked).toBeLessThan(5000)
  await create(501)
  expect((await take(ours.events, 2)).map(({ change }) => change.id)).toEqual([500, 501])
  await ours.events.return()
})

test('a daemon that stops ends its streams at once', async () => {
  await using other = await startDaemon({ args: KEEP, database: folder.file('stopped.db') })
  const { events } = await follow({ of: other })
  await events.next()
  expect(await other.metric('plantstore_changes_followers')).toBe(1)
  const started = performance.now()
  other.signal('SIGTERM')

  expect((await events.next()).done).toBe(true)
  expect(await other.exited).toBe(0)
  expect(performance.now() - started).toBeLessThan(8000)
})

test('followers that read nothing stay within the limit of unread answers, and others go on', async () => {
  await using other = await startDaemon({ args: KEEP, database: folder.file('unread.db') })
  const name = 'x'.repeat(200_000)
  for (let id = 0; id < 20; id++) await other.fetch('/plants', { json: { id, name } })
  const text = request('GET', '/plants/changes', TOKEN).replace(
    '\r\n\r\n',
    '\r\naccept: text/event-stream\r\n\r\n',
  )
  const unsent = () => other.metric('plantstore_unsent_bytes')
  {
    using clients = openNonReaders(other.port, 200)
    clients.send(text)
    await until('unread bytes', async () => (await unsent()) > 10_000_000)
    const bytes = await unsent()
    expect(bytes).toBeGreaterThan(10_000_000)
    expect(bytes).toBeLessThan(40_000_000)
    const { events } = await follow({ after: 'now', of: other })
    await other.fetch('/plants', { json: { id: 100, name: 'short' } })
    expect((await take(events, 1))[0]?.change.id).toBe(100)
    await events.return()
  }
  await until('no unread bytes', async () => (await unsent()) === 0)
})
