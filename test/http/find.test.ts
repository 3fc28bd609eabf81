import { beforeAll, expect, test } from 'bun:test'
import { ownDaemon } from '../harness/own-daemon'
import { expectError } from '../harness/plants'

const { daemon } = ownDaemon()

const names = [
  'Monstera deliciosa',
  'monstera adansonii',
  'Philodendron',
  'a%',
  'A%b',
  '\ufffd',
  'rose & thorn=1',
  'Rosa, white, alba',
  'alba rosa',
  '🌱'.repeat(200),
]
beforeAll(async () => {
  for (const [index, name] of names.entries()) {
    const tag = index % 2 ? 'odd' : 'even'
    const plant = { id: index + 1, name, ...(name.startsWith('Rosa') ? {} : { tag }) }
    const response = await daemon.fetch('/plants', { json: plant })
    if (response.status !== 200) throw new Error(await response.text())
  }
})

const list = async (query: string) => {
  const response = await daemon.fetch(`/plants?${query}`)
  const text = await response.text()
  expect({ text, status: response.status }).toMatchObject({ status: 200 })
  const { plants, next }: { plants: { id: number }[]; next: string | null } = JSON.parse(text)
  return { ids: plants.map(({ id }) => id), next, link: response.headers.get('link') }
}

test.each([
  ['name=MONSTERA', [1, 2]],
  ['name=monstera&tag=odd', [2]],
  ['name=dendron', [3]],
  ['name=', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
  ['name=nothing', []],
  // A percent sign that encodes nothing is taken as it is, and U+FFFD if it was sent.
  ['name=a%', [4, 5]],
  ['name=%EF%BF%BD', [6]],
  // Up to 200 characters, of one or two UTF-16 units each.
  [`name=${encodeURIComponent('🌱'.repeat(200))}`, [10]],
  ['name=ALBA&name=rosa', [8, 9]],
  ['name=rosa,%20white&name=alba', [8]],
  ['name=rosa,alba', []],
  ['tagged=false', [8]],
  ['tagged=true&after=7&order=asc', [9, 10]],
  ['tagged=true&name=white', []],
])('the daemon finds with %s the plants %j', async (query, ids) => {
  expect(await list(query)).toEqual({ ids, next: null, link: null })
})

test('the link to the next page has the whole search', async () => {
  const { next, link } = await list('name=M&tag=even&limit=1')
  expect([next, link]).toEqual(['1', '<?name=M&tag=even&limit=1&after=1>; rel="next"'])
  const special = await list(`name=${encodeURIComponent('& THORN=')}&limit=2&after=3`)
  expect(special).toEqual({ ids: [7], next: null, link: null })
  const parts = await list('name=alba&name=rosa&limit=1')
  expect(parts.link).toBe('<?name=alba&name=rosa&limit=1&after=8>; rel="next"')
})

test.each(['name=%FF', 'name=%ED%A0%80', 'name=a%F0%9F', 'tag=%C3', 'limit=1&name=%80%'])(
  'the daemon refuses the query %s, which is not UTF-8, rather than look for other names',
  async (query) => {
    const message = await expectError(await daemon.fetch(`/plants?${query}`), 40002)
    expect(message).toBe('the query is not UTF-8')
  },
)

test.each([
  [`name=${encodeURIComponent('🌱'.repeat(201))}`, 'name: expected a string'],
  [`${'name=a&'.repeat(11)}limit=1`, 'name: expected a string'],
  ['tag=a&tag=b&after=1&after=1', 'given more than once: after, tag'],
  ['tag=odd&tagged=true', 'send tag or tagged, not both'],
])('the daemon refuses %s', async (query, message) => {
  expect(await expectError(await daemon.fetch(`/plants?${query}`), 40002)).toStartWith(message)
})

test('a page and the link to the next one have the same tag, even after a percent sign that encodes nothing', async () => {
  for (const id of [21, 22])
    await daemon.fetch('/plants', { json: { id, name: 'Mint', tag: '100 %' } })

  const first = await list('tag=100%20%&limit=1')
  expect(first.ids).toEqual([21])
  const query = /^<\?(.*)>/.exec(first.link ?? '')?.[1] ?? ''
  expect(await list(query)).toEqual({ ids: [22], next: null, link: null })
})
