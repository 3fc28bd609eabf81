import { beforeAll, expect, test } from 'bun:test'
import { TOKEN } from '../harness/daemon'
import { ownDaemon } from '../harness/own-daemon'
import { expectError, storedPlants } from '../harness/plants'

const { daemon, database, createToken } = ownDaemon({ args: ['--max-body-bytes', '100'] })
let reader = ''
beforeAll(async () => {
  reader = `Bearer ${await createToken('reader', '--scope', 'read')}`
  await daemon.create('{"id":1,"name":"Rose"}')
})

// Each request is wrong in the way that is tested and in every way that is checked later.
const valid = `Bearer ${TOKEN}`
const text = 'text/plain'
const json = 'application/json'
const large = 'no JSON'.padEnd(101)

test.each([
  ['the path before the method', 40401, 'PATCH', '/plant', undefined, text, large],
  ['the path before credentials', 40401, 'POST', '/plants/', undefined, text, large],
  ['the method before credentials', 40501, 'PATCH', '/plants', undefined, text, large],
  ['credentials before the type of a body', 40101, 'POST', '/plants', undefined, text, large],
  ['a token before the type of a body', 40102, 'POST', '/plants', 'Bearer abc', text, large],
  ['the scope before the type', 40301, 'POST', '/plants', 'reader', text, large],
  ['the type before the size', 41501, 'POST', '/plants', valid, text, large],
  ['the size before the content', 41301, 'POST', '/plants', valid, json, large],
  ['JSON before the fields', 40001, 'POST', '/plants', valid, json, '{"id":1,"name":}'],
  ['the fields before a conflict', 40002, 'POST', '/plants', valid, json, '{"id":1,"name":null}'],
  ['credentials before the id of a path', 40101, 'GET', '/plants/x', undefined, json, undefined],
  ['the scope before the id of a path', 40301, 'DELETE', '/plants/x', 'reader', json, undefined],
  ['credentials before parameters', 40101, 'GET', '/plants?limit=0', undefined, json, undefined],
  ['the fields before the plant', 40002, 'PUT', '/plants/404', valid, json, '{"name":5}'],
  ['credentials of a batch', 40101, 'POST', '/plants/batch', undefined, text, large],
  ['the size of a batch', 41301, 'POST', '/plants/batch', valid, json, large],
] as const)('checks %s: %d', async (_, error, method, path, authorization, type, body) => {
  const credentials = authorization && {
    authorization: authorization === 'reader' ? reader : authorization,
  }
  const answer = await fetch(`${daemon.url}${path}`, {
    method,
    headers: { 'content-type': type, ...credentials },
    ...(body === undefined ? {} : { body }),
  })

  await expectError(answer, error)
  expect(storedPlants(database)).toEqual([{ id: 1n, name: 'Rose', tag: null }])
})
