// The session of the console, with a real daemon.
import { describe, expect, spyOn, test } from 'bun:test'
import { Session } from '../../../src/web/console/session'
import { startDaemon, TOKEN } from '../../harness/daemon'
import { ownDaemon } from '../../harness/own-daemon'

const { daemon, database, createToken } = ownDaemon()

const sessionAt = (url: string) => new Session(new URL(`${url}/`))

async function connect(token = TOKEN, url = daemon.url) {
  const session = sessionAt(url)
  await session.connect(token)
  return session
}

test('a session does not connect if the token was forgotten before the response', async () => {
  const session = sessionAt(daemon.url)

  const connecting = session.connect(TOKEN)
  session.disconnect()
  await connecting

  expect(session.isConnected.value).toBeFalse()
  expect(session.hasSession.value).toBeFalse()
})

test('a session ignores refusals of a replaced token', async () => {
  const session = sessionAt(daemon.url)

  await Promise.all([session.connect('wrong-but-first'), session.connect(TOKEN)])

  expect(session.isConnected.value).toBeTrue()
  expect(session.refusal.value).toBeNull()
})

test.each([
  ['Bearer', `Bearer ${TOKEN}`],
  ['quotes', `"${TOKEN}"`],
  ['both and spaces', ` 'Bearer  ${TOKEN}' `],
])('a session accepts a token that was pasted with %s', async (_, text) => {
  expect((await connect(text)).isConnected.value).toBeTrue()
})

test('a session knows a read-only token or daemon, or learns from a refusal', async () => {
  const reader = await createToken('reader', '--scope', 'read')
  await using copy = await startDaemon({ database, args: ['--read-only'] })

  expect((await connect()).readOnlyReason.value).toBeNull()
  expect((await connect(reader)).readOnlyReason.value).toBe('token')
  expect((await connect(TOKEN, copy.url)).readOnlyReason.value).toBe('daemon')
  expect((await connect(reader, copy.url)).readOnlyReason.value).toBe('daemon')
  const session = await connect(TOKEN, copy.url)
  session.readOnlyReason.value = null
  await session.call((client) => client.createPlant({ id: 1n, name: 'Fern' }))
  expect(session.isReadOnly.value).toBeTrue()
})

describe('a call that waits', () => {
  const respond = async () => ({ ok: true, status: 200, value: null }) as const

  test('leaves no listener on its signal', async () => {
    const session = await connect()
    const { signal } = new AbortController()
    const added = spyOn(signal, 'addEventListener')
    const removed = spyOn(signal, 'removeEventListener')

    for (let batch = 0; batch < 100; batch++) await session.persist(respond, signal)

    expect(removed.mock.calls.length).toBe(added.mock.calls.length)
  })

  test('ends when it is aborted, even before it waits', async () => {
    const session = await connect()
    session.isReachable.value = false
    const abort = new AbortController()

    const waiting = session.persist(respond, abort.signal)
    abort.abort()

    expect(await waiting).toMatchObject({ ok: false, message: 'stopped' })
    expect(await session.persist(respond, abort.signal)).toMatchObject({ message: 'stopped' })
  })
})
