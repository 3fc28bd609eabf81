// The plants of the console's table, of which it keeps a part: read from a real daemon.
import { expect, test } from 'bun:test'
import { createPlantPages } from '../../../src/web/console/plant-pages'
import { createSession } from '../../../src/web/console/session'
import { TOKEN } from '../../harness/daemon'
import { startOwnDaemon } from '../../harness/own-daemon'

// More than the table keeps.
const PLANTS = 21_000
const BATCH = 1000

const { daemon } = await startOwnDaemon()

test('shows a plant that was added behind a part that was forgotten', async () => {
  for (let first = 0; first < PLANTS; first += BATCH) {
    const plants = Array.from({ length: BATCH }, (_, at) => ({ id: first + at, name: 'Rose' }))
    expect((await daemon.fetch('/plants/batch', { json: { plants } })).status).toBe(200)
  }
  const session = createSession(new URL(`${daemon.url}/`))
  await session.connect(TOKEN)
  const pages = createPlantPages(session)
  const load = async (row: number, isGoingToEnd = false) => {
    pages.want(row, row + 1, isGoingToEnd)
    while (!isGoingToEnd && !pages.row(row)) await Bun.sleep(1)
  }
  await pages.open()
  while (!pages.isComplete.value) {
    await load(pages.total.value - 1, true)
    await Bun.sleep(1)
  }
  const last = PLANTS - 1
  expect(pages.row(last)?.id).toBe(BigInt(last))
  // Until what was looked at first is the last part.
  for (let row = 0; pages.row(last); row += 250) await load(row)

  pages.put({ id: BigInt(PLANTS), name: 'Lily' })
  await daemon.create(`{"id":${PLANTS},"name":"Lily"}`)
  await load(last)

  expect(pages.total.value).toBe(PLANTS + 1)
  expect(pages.row(PLANTS)?.name).toBe('Lily')
})
