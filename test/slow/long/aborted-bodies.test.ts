// Clients that disconnect while the daemon reads what they sent. A limit on its memory would make Bun collect earlier:
// here it has none.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { builtProgram, startTemporary } from '../../harness/daemon'
import { head } from '../../harness/http'

const CLIENTS = 24
const PER_SECOND = 1000
const SECONDS = 8
const NAME = 'x'.repeat(500_000)

/** Sends a request, and resets the connection after 2 ms. */
async function abort(port: number, text: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const socket = connect(port, '127.0.0.1', () => {
    socket.write(text)
    setTimeout(() => socket.resetAndDestroy(), 2)
  })
  socket.on('error', () => {})
  socket.on('close', () => resolve())
  await promise
}

test('clients that send large bodies and disconnect take less than 300 MB', async () => {
  await using daemon = await startTemporary({ program: builtProgram() })
  const started = performance.now()
  const seconds = () => (performance.now() - started) / 1000
  let sent = 0

  const clients = Array.from({ length: CLIENTS }, async () => {
    while (seconds() < SECONDS) {
      if (sent > seconds() * PER_SECOND) {
        await Bun.sleep(1)
        continue
      }
      const body = JSON.stringify({ id: sent++, name: NAME })
      const fields = {
        authorization: `Bearer ${daemon.token}`,
        'content-type': 'application/json',
        'content-length': `${body.length}`,
      }
      await abort(daemon.port, head('POST /plants', fields) + body)
    }
  })
  await Promise.all(clients)

  const status = readFileSync(`/proc/${daemon.pid}/status`, 'utf8')
  const megabytes = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024
  expect(megabytes).toBeLessThan(300)
  expect((await daemon.create('{"id":-1,"name":"Rose"}')).status).toBe(200)
})
