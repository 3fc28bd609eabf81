import { expect, test } from 'bun:test'
import { createRequestLog } from '../../src/http/request-log'

test('a request is logged with its milliseconds to a microsecond', () => {
  const logged: unknown[] = []
  const { end } = createRequestLog({
    log: (_, __, fields) => logged.push(fields),
    clientOf: () => null,
  })
  const request = new Request('http://localhost/plants?tag=a')
  const record = { id: 'r-1', client: null }

  end({ request, route: '/plants', startedAt: 0, record, token: null }, new Response(), 12.34567)

  expect(logged).toEqual([{ id: 'r-1', method: 'GET', path: '/plants', status: 200, ms: 12.346 }])
})
