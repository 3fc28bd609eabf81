import { expect, test } from 'bun:test'
import { createOptionsOf } from '../../src/http/exchange'
import type { Store } from '../../src/store'
import { issueToken } from '../../src/token/token'

const { token } = issueToken('laptop', 'write', null, 0)
const request = new Request('http://localhost/plants', { headers: { 'x-request-id': 'r-1' } })
const { signal } = request
const exchange = { request, route: '/plants', startedAt: 0, record: undefined, token }
const clientOf = () => '192.0.2.7'
const changeLog = {} as NonNullable<Store['changeLog']>

test('a change says who asked for it, if a change log is kept', () => {
  const optionsOf = createOptionsOf({ store: { changeLog }, clientOf })

  expect(optionsOf(exchange)).toEqual({
    signal,
    origin: { token: 'laptop', address: '192.0.2.7', request: 'r-1' },
  })
  const record = { id: 'r-2', client: null }
  expect(optionsOf({ ...exchange, token: null, record })).toEqual({
    signal,
    origin: { token: null, address: null, request: 'r-2' },
  })
})

test('a change has no origin without a change log', () => {
  const optionsOf = createOptionsOf({
    store: {},
    clientOf: () => {
      throw new Error('not needed')
    },
  })

  expect(optionsOf(exchange)).toEqual({ signal })
})
