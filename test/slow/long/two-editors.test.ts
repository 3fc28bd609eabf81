// Two editors of one plant, who use If-Match.
import { expect, test } from 'bun:test'
import { ownDaemon } from '../../harness/own-daemon'

const { daemon, stored } = ownDaemon()

test('loses no update of two editors of one plant, in a thousand rounds each', async () => {
  const rounds = 1000
  await daemon.create('{"id":9,"name":"0","tag":""}')
  let refused = 0

  // Each round reads the plant and counts it up; the tag has who did so.
  async function edit(editor: string): Promise<void> {
    for (let done = 0; done < rounds; ) {
      const answer = await daemon.fetch('/plants/9')
      const { name } = JSON.parse(await answer.text())
      const body = JSON.stringify({ name: `${Number(name) + 1}`, tag: editor })
      const method = done % 2 === 0 ? 'PUT' : 'PATCH'
      const { status } = await daemon.fetch('/plants/9', {
        method,
        body,
        headers: { 'if-match': answer.headers.get('etag') ?? 'none' },
      })
      expect([200, 412]).toContain(status)
      if (status === 200) done += 1
      else refused += 1
    }
  }
  await Promise.all([edit('a'), edit('b')])

  expect(stored(9n)?.name).toBe(`${2 * rounds}`)
  // They came in each other's way: else nothing is shown.
  expect(refused).toBeGreaterThan(10)
})
