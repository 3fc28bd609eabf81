// The changes of others in the table of the console, from the change log of a real daemon.

import { expect, test } from 'bun:test'
import { effect } from '@preact/signals'
import { createFollower } from '../../../src/web/console/list/follower'
import { ownDaemon } from '../../harness/own-daemon'
import { until } from '../../harness/until'
import { openList } from './opened-list'

const { daemon } = ownDaemon({ args: ['--keep-changes', '1d'] })
const CHANGES = 3000
const BATCH = 1000

test('many changes are shown by few drawings of the table', async () => {
  const { session, list } = await openList(daemon)
  const told: bigint[] = []
  const follower = createFollower(session, list, async (id) => void told.push(id))
  await follower.start()
  let drawn = 0
  effect(() => {
    list.rows.version.value
    drawn += 1
  })
  for (let first = 0; first < CHANGES; first += BATCH) {
    const plants = Array.from({ length: BATCH }, (_, at) => ({ id: first + at, name: 'Rose' }))
    expect((await daemon.fetch('/plants/batch', { json: { plants } })).status).toBe(200)
  }
  await until('the changes', () => list.rows.read.value === CHANGES && told.length === CHANGES)
  follower.stop()

  expect(drawn).toBeLessThan(CHANGES / 10)
  expect(list.rows.row(CHANGES - 1)?.id).toBe(BigInt(CHANGES - 1))
})
