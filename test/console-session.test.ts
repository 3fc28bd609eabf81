// The session of the console, with a real daemon.
import { expect, test } from 'bun:test'
import { createSession } from '../src/web/console/session'
import { TOKEN } from './harness/daemon'
import { startOwnDaemon } from './harness/own-daemon'

const { daemon } = await startOwnDaemon()

test('does not take a token that is forgotten before the service has answered', async () => {
  const session = createSession(new URL(`${daemon.url}/`))

  const connecting = session.connect(TOKEN)
  session.disconnect()
  await connecting

  expect(session.isConnected.value).toBeFalse()
  expect(session.isKnown.value).toBeFalse()
  expect(session.token()).toBeNull()
})

test('says nothing of a token that was given before the one of now', async () => {
  const session = createSession(new URL(`${daemon.url}/`))

  await Promise.all([session.connect('wrong-but-first'), session.connect(TOKEN)])

  expect(session.token()).toBe(TOKEN)
  expect(session.refusal.value).toBeNull()
})
