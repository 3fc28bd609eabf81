// Requests that arrive slowly, or not at all.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { connect } from 'node:net'
import { PATIENCE_MS, startDaemon } from '../../harness/daemon'

setDefaultTimeout(2 * PATIENCE_MS)

const HEAD = 'GET /health HTTP/1.1\r\nHost: a\r\n'
const WHOLE = `${HEAD}\r\n`

/** The seconds until the daemon closes a connection on which this was sent. */
function secondsOpen(port: number, sent: string): Promise<number> {
  const start = performance.now()
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const socket = connect(port, '127.0.0.1', () => sent && socket.write(sent))
  socket.on('error', reject).on('close', () => resolve((performance.now() - start) / 1000))
  socket.resume()
  return promise
}

test('a connection is closed if its request does not arrive in the time of docs/api.md', async () => {
  await using daemon = await startDaemon()
  const partOfBody =
    'POST /plants HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n' +
    `Authorization: Bearer ${daemon.token}\r\nContent-Length: 9\r\n\r\n{`
  const after = (sent: string) => secondsOpen(daemon.port, sent)

  const firstHeads = Promise.all(['', HEAD].map(after))
  const later = Promise.all([partOfBody, WHOLE, WHOLE + HEAD].map(after))

  // A busy machine is late.
  for (const seconds of await firstHeads) expect(seconds).toBeWithin(10, 50)
  for (const seconds of await later) expect(seconds).toBeWithin(56, 110)
})
