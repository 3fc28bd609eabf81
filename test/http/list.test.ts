import { beforeAll, expect, test } from 'bun:test'
import { startDaemon } from '../harness/daemon'
import { ownDaemon } from '../harness/own-daemon'
import { expectError } from '../harness/plants'

const MIN = '-9223372036854775808'
const MAX = '9223372036854775807'

const { daemon, folder } = ownDaemon()

// Over the whole range, with neighbours that a double cannot tell apart; sent in no order.
const ids = [
  ...[MIN, '-9223372036854775807', '-9007199254740993', '-9007199254740992', '-10', '-9', '-1'],
  ...['0', '1', '2', '9', '10', '9007199254740992', '9007199254740993', MAX],
]
const tagOf = (id: string) => (id.startsWith('-') ? 'a&b="ü' : id.length > 1 ? '' : undefined)
beforeAll(async () => {
  for (const id of ids.toReversed()) {
    const tag = tagOf(id)
    await daemon.create(
      `{"id":${id},"name":"n${id}"${tag === undefined ? '' : `,"tag":${JSON.stringify(tag)}`}}`,
    )
  }
})

type Page = { plants: { name: string; tag?: string }[]; next: string | null }

// The digits of the ids as they came over the wire.
const idsOf = (text: string) => [...text.matchAll(/"id":(-?\d+)/g)].map(([, id]) => id)

/** Asks for page after page, by `next` or by the link; resolves to the ids of each. */
async function pages(path: string, follow: 'next' | 'link') {
  const found: (string | undefined)[][] = []
  let url: string | null = path
  // A page each at the most, so that a page that leads back to itself ends too.
  while (url !== null && found.length <= ids.length) {
    const answer: Response = await daemon.fetch(url)
    expect(answer.status).toBe(200)
    const text = await answer.text()
    const { next }: Page = JSON.parse(text)
    found.push(idsOf(text))
    const link = answer.headers.get('link')
    expect(link === null).toBe(next === null)
    const target = /^<([^>]+)>; rel="next"$/.exec(link ?? '')?.[1]
    const { pathname, search } = new URL(target ?? '', answer.url)
    const linked = target === undefined ? null : pathname + search
    url = follow === 'link' ? linked : next === null ? null : `${path}&after=${next}`
  }
  return found
}

test('lists every plant in ascending order of the ids, each with its exact digits', async () => {
  const answer = await daemon.fetch('/plants')

  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(answer.headers.has('link')).toBeFalse()
  const text = await answer.text()
  expect(idsOf(text)).toEqual(ids)
  expect(text).toStartWith(
    `{"plants":[{"id":${MIN},"name":"n${MIN}","tag":"a&b=\\"ü"},{"id":-9223372036854775807,`,
  )
  expect(text).toContain('{"id":2,"name":"n2"},{"id":9,"name":"n9"},{"id":10,')
  expect(text).toEndWith(`{"id":${MAX},"name":"n${MAX}","tag":""}],"next":null}`)
})

test.each(['next', 'link'] as const)(
  'the %s of each page leads through all plants',
  async (follow) => {
    for (const limit of [1, 2, 7, 14, 15, 1000]) {
      const found = await pages(`/plants?limit=${limit}`, follow)

      expect(found.flat()).toEqual(ids)
      expect(found).toHaveLength(Math.ceil(ids.length / limit))
      for (const page of found.slice(0, -1)) expect(page).toHaveLength(limit)
    }
  },
)

test.each(['next', 'link'] as const)(
  'the %s of each page leads through the plants of a tag',
  async (by) => {
    const negative = ids.filter((id) => id.startsWith('-'))
    const untagged = ids.filter((id) => tagOf(id) === '')
    for (const limit of [1, 2, 3, 7, 8]) {
      const query = `limit=${limit}&tag=${encodeURIComponent('a&b="ü')}`
      expect((await pages(`/plants?${query}`, by)).flat()).toEqual(negative)
      expect((await pages(`/plants?limit=${limit}&tag=`, by)).flat()).toEqual(untagged)
    }
  },
)

test.each(['next', 'link'] as const)(
  'the %s of each page leads through descending ids',
  async (follow) => {
    const descending = ids.toReversed()
    for (const limit of [1, 2, 7, 14, 15, 1000]) {
      const found = await pages(`/plants?order=desc&limit=${limit}`, follow)

      expect(found.flat()).toEqual(descending)
      expect(found).toHaveLength(Math.ceil(ids.length / limit))
    }
    const query = `order=desc&limit=2&tag=${encodeURIComponent('a&b="ü')}`
    const tagged = descending.filter((id) => id.startsWith('-'))
    expect((await pages(`/plants?${query}`, follow)).flat()).toEqual(tagged)
    const named = descending.filter((id) => `n${id}`.includes('n9'))
    expect((await pages('/plants?name=N9&limit=1&order=desc', follow)).flat()).toEqual(named)
  },
)

test('starts below `after` with descending ids, whether or not it is stored', async () => {
  const below = async (id: string) =>
    idsOf(await (await daemon.fetch(`/plants?order=desc&after=${id}`)).text()).toReversed()

  expect(await below('9007199254740993')).toEqual(ids.slice(0, 13))
  expect(await below('-5')).toEqual(ids.slice(0, 6))
  expect(await below(MAX)).toEqual(ids.slice(0, -1))
  expect(await below('-9223372036854775807')).toEqual([MIN])
  expect(await below(MIN)).toEqual([])
})

test('order=asc is the default', async () => {
  const answers = ['limit=3&order=asc', 'limit=3'].map(async (query) =>
    (await daemon.fetch(`/plants?${query}`)).text(),
  )
  const [asked, usual] = await Promise.all(answers)

  expect(asked).toBe(usual ?? '')
})

test('finds the largest id with one request', async () => {
  const answer = await daemon.fetch('/plants?order=desc&limit=1')

  expect(answer.headers.get('link')).toBe(`<?limit=1&after=${MAX}&order=desc>; rel="next"`)
  expect(await answer.text()).toBe(
    `{"plants":[{"id":${MAX},"name":"n${MAX}","tag":""}],"next":"${MAX}"}`,
  )
})

test("links to the next page relative to a proxy's path", async () => {
  const link = (await daemon.fetch('/plants?limit=1')).headers.get('link')
  const target = /^<(.+)>; rel="next"$/.exec(link ?? '')?.[1] ?? ''

  for (const prefix of ['', '/garden', '/a/b']) {
    const page = `https://example.org${prefix}/plants`
    expect(new URL(target, `${page}?limit=1&after=5`).href).toBe(`${page}?limit=1&after=${MIN}`)
  }
})

test('distinguishes a tag without plants from one with a plant', async () => {
  for (const tag of ['A%26B', 'a', '%25', '_', "'%20OR%201=1--"]) {
    expect(await (await daemon.fetch(`/plants?tag=${tag}`)).text()).toBe(
      '{"plants":[],"next":null}',
    )
  }
})

test('starts after `after`, whether or not it is stored', async () => {
  const after = async (id: string) =>
    idsOf(await (await daemon.fetch(`/plants?after=${id}`)).text())

  expect(await after('-9007199254740993')).toEqual(ids.slice(3))
  expect(await after('-5')).toEqual(ids.slice(6))
  expect(await after('9007199254740992')).toEqual(ids.slice(13))
  expect(await after(MIN)).toEqual(ids.slice(1))
  expect(await after(MAX)).toEqual([])
})

test('lists 100 plants by default', async () => {
  await using other = await startDaemon({ database: folder.file('many.db') })
  const plants = Array.from({ length: 101 }, (_, id) => ({ id, name: '' }))
  await other.fetch('/plants/batch', { json: { plants } })

  const page = JSON.parse(await (await other.fetch('/plants')).text())

  expect(page.plants).toHaveLength(100)
  expect(page.next).toBe('99')
})

test.each([
  ['limit=0', 'limit'],
  ['limit=1001', 'limit'],
  ['limit=-1', 'limit'],
  ['limit=1.5', 'limit'],
  ['limit=1e2', 'limit'],
  ['limit=', 'limit'],
  ['limit=ten', 'limit'],
  ['after=', 'after'],
  ['after=x', 'after'],
  ['after=1.0', 'after'],
  ['after=9223372036854775808', 'after'],
  ['after=-9223372036854775809', 'after'],
  ['after=%2B1', 'after'],
  ['tag=%00', 'tag'],
  ['order=', 'order'],
  ['order=DESC', 'order'],
  ['order=descending', 'order'],
  ['order=desc,asc', 'order'],
  ['order=-1', 'order'],
])('refuses the parameters %s', async (query, field) => {
  expect(await expectError(await daemon.fetch(`/plants?${query}`), 40002)).toStartWith(`${field}: `)
})

test.each(['page=2', 'Limit=2', 'limit=2&offset=2', '__proto__=1', 'page=1&page=2'])(
  'refuses the unknown parameters %s',
  async (query) => {
    const message = await expectError(await daemon.fetch(`/plants?${query}`), 40002)

    expect(message).toMatch(/^unknown parameter; use limit, after, tag, .* or order$/)
  },
)

test.each([
  ['limit=1&limit=1', 'limit'],
  ['limit=1&limit=2', 'limit'],
  ['limit=1&tag=&limi%74=2', 'limit'],
  ['after=1&after=2', 'after'],
  ['tag=a&tag=b', 'tag'],
  ['tag&tag', 'tag'],
  ['order=asc&order=asc', 'order'],
  ['order=desc&limit=1&%6Frder=asc', 'order'],
  ['tag=a&tag=b&after=1&after=1', 'after, tag'],
])('refuses the repeated parameters %s', async (query, names) => {
  const message = await expectError(await daemon.fetch(`/plants?${query}`), 40002)

  expect(message).toBe(`given more than once: ${names}`)
})

test('names every parameter that is wrong', async () => {
  const path = '/plants?limit=0&after=x&tagged=1&name=%00&y=1'

  expect((await expectError(await daemon.fetch(path), 40002)).split('; ')).toEqual([
    'unknown parameter',
    expect.stringMatching(/^use limit, after, tag, .* or order$/),
    'limit: expected an integer from 1 to 1000',
    `after: expected an integer from ${MIN} to ${MAX}`,
    'tagged: expected true or false',
    'name: expected a string without U+0000 and without unpaired surrogates, of up to 200 characters, at most 10 times',
  ])
})
