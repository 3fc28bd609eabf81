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
    const response: Response = await daemon.fetch(url)
    expect(response.status).toBe(200)
    const text = await response.text()
    const { next }: Page = JSON.parse(text)
    found.push(idsOf(text))
    const link = response.headers.get('link')
    expect(link === null).toBe(next === null)
    const target = /^<([^>]+)>; rel="next"$/.exec(link ?? '')?.[1]
    const { pathname, search } = new URL(target ?? '', response.url)
    const linked = target === undefined ? null : pathname + search
    url = follow === 'link' ? linked : next === null ? null : `${path}&after=${next}`
  }
  return found
}

test('the daemon lists every plant in ascending order of the ids, each with its exact digits', async () => {
  const response = await daemon.fetch('/plants')

  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(response.headers.has('link')).toBeFalse()
  const text = await response.text()
  expect(idsOf(text)).toEqual(ids)
  expect(text).toStartWith(
    `{"plants":[{"id":${MIN},"name":"n${MIN}","tag":"a&b=\\"ü"},{"id":-9223372036854775807,`,
  )
  expect(text).toContain('{"id":2,"name":"n2"},{"id":9,"name":"n9"},{"id":10,')
  expect(text).toEndWith(`{"id":${MAX},"name":"n${MAX}","tag":""}],"next":null}`)
})

const TAG = 'a&b="ü'
const tagged = ids.filter((id) => tagOf(id) === TAG)

test.each([
  ['', ids],
  ['&order=desc', ids.toReversed()],
  [`&tag=${encodeURIComponent(TAG)}`, tagged],
  [`&tag=${encodeURIComponent(TAG)}&order=desc`, tagged.toReversed()],
  ['&tag=', ids.filter((id) => tagOf(id) === '')],
  ['&name=N9&order=desc', ids.filter((id) => id.startsWith('9')).toReversed()],
])('`next` and the link of each page lead through the list "%s"', async (query, expected) => {
  for (const limit of [1, 2, 7, 14, 15, 1000]) {
    const found = await pages(`/plants?limit=${limit}${query}`, 'next')

    expect(found.flat()).toEqual(expected)
    expect(await pages(`/plants?limit=${limit}${query}`, 'link')).toEqual(found)
    for (const page of found.slice(0, -1)) expect(page).toHaveLength(limit)
  }
})

test('the daemon lists 100 plants by default', async () => {
  await using other = await startDaemon({ database: folder.file('many.db') })
  const plants = Array.from({ length: 101 }, (_, id) => ({ id, name: '' }))
  await other.fetch('/plants/batch', { json: { plants } })

  const page = JSON.parse(await (await other.fetch('/plants')).text())

  expect(page.plants).toHaveLength(100)
  expect(page.next).toBe('99')
})

test('the daemon names every parameter that is wrong or unknown', async () => {
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
