import { expect, test } from 'bun:test'
import { createRequestLog } from '../../src/http/request-log'

test('a request is logged with its milliseconds to a microsecond', () => {
  const logged: unknown[] = []
  const { end } = createRequestLog(
    (_, __, fields) => logged.push(fields),
    () => null,
  )
  const request = new Request('http://localhost/plants?tag=a')

  end({ id: 'r-1', client: null }, null, request, new Response(), 12.34567)

  expect(logged).toEqual([{ id: 'r-1', method: 'GET', path: '/plants', status: 200, ms: 12.346 }])
})
