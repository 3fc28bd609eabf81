// GET /tags: the tags of all plants, page by page.

import { beforeAll, expect, test } from 'bun:test'
import { startTemporary } from '../harness/daemon'
import { ownDaemon } from '../harness/own-daemon'

const { daemon, createToken } = ownDaemon()

const tags = ['', ' ', 'a', 'a&b="ü', 'aroid', '\uff5e', '\u{1F335}', 'x'.repeat(300)].sort(
  (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)),
)
const counts = tags.map((tag, index) => ({ tag, plants: (index % 2) + 1 }))

beforeAll(async () => {
  const tagged = counts.flatMap(({ tag, plants }) => Array<string>(plants).fill(tag))
  const plants = tagged.map((tag, id) => ({ id, name: '', tag }))
  const untagged = { id: 100, name: 'without a tag' }
  await daemon.fetch('/plants/batch', {
    method: 'POST',
    body: JSON.stringify({ plants: [...plants, untagged] }),
  })
})

type Page = { readonly tags: typeof counts; readonly next: string | null }

test('the daemon lists each tag with the number of its plants, to a token that only reads', async () => {
  const token = await createToken('reader', '--scope', 'read')

  const response = await daemon.fetch('/tags', { headers: { authorization: `Bearer ${token}` } })

  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(response.headers.has('link')).toBeFalse()
  expect(await response.text()).toBe(JSON.stringify({ tags: counts, next: null }))
})

test.each(['next', 'link'] as const)(
  'the daemon lists every tag once, page by page, by the %s',
  async (by) => {
    const found: Page['tags'][] = []
    let url: string | null = '/tags?limit=3'
    while (url !== null && found.length <= tags.length) {
      const response: Response = await daemon.fetch(url)
      const page = (await response.json()) as Page
      found.push(page.tags)
      const link = /^<([^>]+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1]
      expect(link === undefined).toBe(page.next === null)
      const { pathname, search } = new URL(link ?? '', response.url)
      if (page.next === null) url = null
      else if (by === 'link') url = pathname + search
      else url = `/tags?limit=3&after=${encodeURIComponent(page.next)}`
    }

    expect(found.flat()).toEqual(counts)
    expect(found.map((page) => page.length)).toEqual([3, 3, 2])
  },
)

test('a list of tags has no empty `next`, even after the empty tag, and leaves no tag out', async () => {
  await using other = await startTemporary()
  const orders = [['', 'aroid'], ['', '!', 'a'], ['', ' ', 'a'], ['', '\u0001', '\u0001a'], ['']]

  for (const order of orders) {
    const plants = order.map((tag, id) => ({ id, name: '', tag }))
    await other.fetch('/plants/batch', { method: 'POST', json: { plants } })
    const found: string[] = []
    // As in any language whose empty text is false.
    for (let after: string | null = null, isFirst = true; isFirst || after; isFirst = false) {
      const query = after === null ? '' : `&after=${encodeURIComponent(after)}`
      const page = (await (await other.fetch(`/tags?limit=1${query}`)).json()) as Page
      expect(page.next).not.toBe('')
      // There is no text between the empty tag and this one.
      expect(page.tags).toHaveLength(page.tags[1]?.tag === '\u0001' ? 2 : 1)
      found.push(...page.tags.map(({ tag }) => tag))
      after = page.next
    }
    expect(found).toEqual(order)
    await other.fetch('/plants/batch-delete', { method: 'POST', json: { plants } })
  }
})

test('a list of tags begins after the empty tag if `after` is empty', async () => {
  const page = (await (await daemon.fetch('/tags?after=')).json()) as Page

  expect(page.tags).toEqual(counts.slice(1))
})

test('a list of tags has no link that no request could follow', async () => {
  const prefix = '\u{1F335}'.repeat(3000)
  const plants = ['1', '2'].map((end, id) => ({ id: 8000 + id, name: '', tag: prefix + end }))
  await daemon.fetch('/plants/batch', { method: 'POST', body: JSON.stringify({ plants }) })
  const after = encodeURIComponent(prefix.slice(0, 800))

  const response = await daemon.fetch(`/tags?limit=1&after=${after}`)

  expect(response.headers.has('link')).toBeFalse()
  const page = (await response.json()) as Page
  expect(page.tags).toEqual([{ tag: `${prefix}1`, plants: 1 }])
  expect(page.next?.startsWith(prefix)).toBeTrue()
  await daemon.fetch('/plants/batch-delete', { method: 'POST', body: JSON.stringify({ plants }) })
})
