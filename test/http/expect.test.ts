// Expect: 100-continue (RFC 9110, section 10.1.1). Bun answers it, before any code of ours runs.
import { expect, test } from 'bun:test'
import { TOKEN } from '../harness/daemon'
import { connect, head } from '../harness/http'
import { ownDaemon } from '../harness/own-daemon'

const { daemon, stored } = ownDaemon()
const WAIT_MS = 300

const expecting = (value: string, body: string): string =>
  head('POST /plants', {
    authorization: `Bearer ${TOKEN}`,
    'content-type': 'application/json',
    'content-length': String(body.length),
    expect: value,
  })

test.each([
  ['100-continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
  // As docs/api.md says: RFC 9110 ignores the case, Bun does not.
  ['100-Continue', ''],
])('the body that follows Expect: %s is stored', async (value, interim) => {
  const id = BigInt(interim.length)
  const body = `{"id":${id},"name":"Rose"}`
  using connection = await connect(daemon.url)

  connection.write(expecting(value, body))
  await Bun.sleep(WAIT_MS)
  expect(connection.received()).toBe(interim)
  connection.write(body)

  expect(await connection.receive(/\{"name":"Rose"\}$/)).toStartWith(`${interim}HTTP/1.1 200 OK`)
  expect(stored(id)?.name).toBe('Rose')
})
