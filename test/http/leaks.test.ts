// No refusal echoes what was sent, or shows how the service works inside.
import { expect, test } from 'bun:test'
import { root, TOKEN } from '../harness/daemon'
import { ownDaemon } from '../harness/own-daemon'

const { daemon, folder } = ownDaemon()

const mark = 'Ohq7'
const long = mark.repeat(2500)
const post = (body: string, headers = {}): RequestInit => ({ method: 'POST', body, headers })
const many = (item: string) => `[${Array.from({ length: 1000 }, () => item).join()}]`

const requests: [what: string, path: string, init: RequestInit][] = [
  ['a body that is not JSON', '/plants', post(long)],
  ['an id', '/plants', post(`{"id":"${long}","name":"a"}`)],
  ['a list as a name', '/plants', post(`{"id":1,"name":["${long}"]}`)],
  ['a name with U+0000', '/plants', post(`{"id":1,"name":"${long}\\u0000"}`)],
  ['a huge number', '/plants', post(`{"id":${'9'.repeat(10_000)},"name":"${long}"}`)],
  ['an unknown field', '/plants', post(`{"id":1,"${long}":1}`)],
  ['a bigint beside a wrong field', '/plants', post(`{"id":9007199254740993,"name":5}`)],
  ['a type', '/plants', post('{}', { 'content-type': long })],
  ['an encoding', '/plants', post('{}', { 'content-encoding': long })],
  ['a token', '/plants', post('{}', { authorization: `Bearer ${long.slice(0, 4000)}` })],
  ['a scheme', '/plants', post('{}', { authorization: long })],
  ['a path', `/${long}`, {}],
  ['an id in a path', `/plants/${long}`, {}],
  ['a parameter', `/plants?limit=${long}`, {}],
  ['an unknown parameter', `/plants?${long}=1`, {}],
  ['a batch', '/plants/batch', post(`{"plants":${many(`{"id":"${mark}","${mark}":1}`)}}`)],
  ['a batch that is too long', '/plants/batch', post(`{"plants":${many(`"${mark}"`)},"x":1}`)],
]

test.each(requests)('refuses %s: a short answer without an echo', async (_, path, init) => {
  const answer = await daemon.fetch(path, init)
  const text = await answer.text()

  expect(answer.status).toBeGreaterThanOrEqual(400)
  expect(answer.status).toBeLessThan(500)
  expect(text.length).toBeLessThan(2000)
  for (const [, value] of answer.headers) expect(value).not.toContain(mark)
  expect(text).not.toContain(mark)
  expect(text).not.toContain('9007199254740993')
})

test.each(requests)(
  'refuses %s without naming paths, modules, SQL or secrets',
  async (_, path, init) => {
    const text = await (await daemon.fetch(path, init)).text()

    expect(text).not.toMatch(
      /\bat |\.ts\b|node_modules|\$bunfs|sqlite|SELECT|INSERT|Elysia|TypeBox/i,
    )
    for (const secret of [root, folder.path, TOKEN]) expect(text).not.toContain(secret)
    expect(Object.keys(JSON.parse(text))).toEqual(['error', 'message'])
  },
)

test('refusals log no warning or error', () => {
  expect(daemon.events().filter(({ level }) => level !== 'info')).toEqual([])
  expect(daemon.err()).not.toContain(mark)
})
