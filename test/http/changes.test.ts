import { expect, test } from 'bun:test'
import type { ChangeLogEntry } from '../../src/change-log/change-log'
import { runProgram, startDaemon } from '../harness/daemon'
import { readEvents, take } from '../harness/events'
import { ownDaemon } from '../harness/own-daemon'
import { expectError } from '../harness/plants'

const KEEP = ['--keep-changes', '1d']
const { daemon, folder } = ownDaemon({ args: KEEP })

type Page = { readonly changes: readonly ChangeLogEntry[]; readonly next: string }

async function read(query = '', of = daemon): Promise<Page> {
  const response = await of.fetch(`/plants/changes${query}`)
  expect(response.status).toBe(200)
  return (await response.json()) as Page
}

const now = async () => (await read('?after=now')).next

type Following = {
  readonly after?: string
  readonly headers?: Record<string, string>
  readonly of?: typeof daemon
}

async function follow({ after, headers = {}, of = daemon }: Following = {}) {
  const query = after === undefined ? '' : `?after=${after}`
  const response = await of.fetch(`/plants/changes${query}`, {
    headers: { accept: 'text/event-stream', ...headers },
  })
  expect(response.status).toBe(200)
  return { response, events: readEvents(response) }
}

const create = (id: number, name = 'a') => daemon.fetch('/plants', { json: { id, name } })

test('the daemon lists what changed, by whom, from what to what, with exact ids', async () => {
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

  const response = await daemon.fetch(`/plants/changes?after=${start}`)
  const text = await response.text()
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

test('the history of a plant, or of all, has the newest first, page by page, though the plant is gone', async () => {
  await create(200)
  for (const name of ['b', 'c'])
    await daemon.fetch('/plants/200', { method: 'PUT', json: { name } })
  await daemon.fetch('/plants/200', { method: 'DELETE' })
  await create(201)

  const history = async (query: string) => {
    const response = await daemon.fetch(`/plants${query}`)
    const { changes, next } = (await response.json()) as Page
    return { changes: changes.map(({ id, after }) => [Number(id), after?.name]), next }
  }
  const first = await history('/200/history?limit=3')

  expect(first.changes).toEqual([
    [200, undefined],
    [200, 'c'],
    [200, 'b'],
  ])
  expect(await history(`/200/history?after=${first.next}`)).toEqual({
    changes: [[200, 'a']],
    next: null as never,
  })
  expect(await history('/404/history')).toEqual({ changes: [], next: null as never })
  const all = await history('/history?limit=1')
  expect(all.changes).toEqual([[201, 'a']])
  expect((await history(`/history?limit=1&after=${all.next}`)).changes).toEqual([[200, undefined]])
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

  expect(first.response.headers.get('content-type')).toBe('text/event-stream')
  expect(first.response.headers.get('x-accel-buffering')).toBe('no')
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
  const response = await daemon.fetch('/plants/changes', { method: 'HEAD', headers })

  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  expect(await response.text()).toBe('')
})

test.each([
  ['*/*', 'application/json'],
  ['image/png', 'application/json'],
  ['*', 'application/json'],
  ['text/event-stream;q=0', 'application/json'],
  ['application/json, text/event-stream;q=0.1', 'application/json'],
  ['application/json;q=0.1, text/event-stream', 'text/event-stream'],
  ['text/event-stream;charset=utf-8;q=0.9, */*;q=0.1', 'text/event-stream'],
])('a client that accepts %s gets %s', async (accept, type) => {
  const headers = { accept }
  const response = await daemon.fetch('/plants/changes?after=now', { method: 'HEAD', headers })

  expect(response.headers.get('content-type')).toBe(type)
})

test.each(['?after=1', `?after=${'a'.repeat(10_000)}`, '?tag=a', '?limit=1&limit=2'])(
  'the daemon refuses %s, for a stream and a history too',
  async (query) => {
    for (const accept of ['application/json', 'text/event-stream']) {
      const headers = { accept }
      await expectError(await daemon.fetch(`/plants/changes${query}`, { headers }), 40002)
    }
    await expectError(await daemon.fetch(`/plants/1/history${query}`), 40002)
  },
)

test('pages and streams fail with 40403 without a change log, and the message names the option', async () => {
  await using plain = await startDaemon({ database: folder.file('plain.db') })

  for (const path of ['/plants/changes', '/plants/history', '/plants/1/history']) {
    const response = await plain.fetch(path)
    expect(await response.clone().text()).toContain('--keep-changes')
    await expectError(response, 40403)
  }
})

test('only --keep-changes off ends the change log; a later one refuses its cursors', async () => {
  const database = folder.file('kept.db')
  const first = await startDaemon({ args: KEEP, database })
  for (const id of [1, 2, 3]) await first.create(id)
  const kept = await read('', first)
  await first.stop()

  // An empty variable counts as unset.
  const second = await startDaemon({ database, env: { PLANTSTORE_KEEP_CHANGES: '' } })
  expect(await read('', second)).toEqual(kept)
  await second.stop()
  expect(second.err()).not.toContain('changes-ended')

  const third = await startDaemon({ args: ['--keep-changes', 'off'], database })
  expect(await third.event('changes-ended')).toMatchObject({ level: 'warn', entries: 3 })
  await expectError(await third.fetch('/plants/changes'), 40403)
  await third.kill()

  await using fourth = await startDaemon({ args: KEEP, database })
  await expectError(await fourth.fetch(`/plants/changes?after=${kept.next}`), 41001)
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
