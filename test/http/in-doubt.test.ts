// A change whose fate is unknown: its client gets no answer.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { InDoubtError } from '../../src/errors'
import type { Store } from '../../src/store'
import { configuredToken, serveStore } from '../../tools/service'
import { PATIENCE_MS, TOKEN } from '../harness/daemon'
import { connect, head } from '../harness/http'

setDefaultTimeout(PATIENCE_MS)

const BODY = '{"id":1,"name":"Rose"}'
const REQUEST = `${head('POST /plants', {
  authorization: `Bearer ${TOKEN}`,
  'content-type': 'application/json',
  'content-length': String(BODY.length),
})}${BODY}`

test('a create that may or may not be stored closes its connection without an answer', async () => {
  const logged: string[] = []
  const token = configuredToken(TOKEN)
  const store = {
    stats: () => ({}),
    createPlant: () => Promise.reject(new InDoubtError('the row of this daemon is gone')),
  }
  const service = serveStore(store as unknown as Store, {
    configuredToken: () => token,
    log: (_, event) => logged.push(event),
  })
  using connection = await connect(service.url)

  connection.write(REQUEST)

  expect(await connection.whenClosed()).toBe('')
  expect(logged).toEqual([])
  await service.end()
})
