import { expect, test } from 'bun:test'
import { createOptionsOf } from '../../src/http/request-context'
import type { Store } from '../../src/store'
import { issueToken } from '../../src/token/token'

const { token } = issueToken('laptop', 'write', null, 0)
const request = new Request('http://localhost/plants', { headers: { 'x-request-id': 'r-1' } })
const { signal } = request
const clientOf = () => '192.0.2.7'
const kept = {} as NonNullable<Store['changeLog']>

test('a change says who asked for it, if a change log is kept', () => {
  const optionsOf = createOptionsOf({ changeLog: kept }, clientOf)

  expect(optionsOf({ request, token, entry: undefined })).toEqual({
    signal,
    origin: { token: 'laptop', address: '192.0.2.7', request: 'r-1' },
  })
  const entry = { id: 'r-2', client: null }
  expect(optionsOf({ request, token: null, entry })).toEqual({
    signal,
    origin: { token: null, address: null, request: 'r-2' },
  })
})

test('a change has no origin without a change log', () => {
  const optionsOf = createOptionsOf({}, () => {
    throw new Error('not needed')
  })

  expect(optionsOf({ request, token, entry: undefined })).toEqual({ signal })
})
