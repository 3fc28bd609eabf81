// Changes by others in the console's table, from the change log of a real daemon.

import { expect, test } from 'bun:test'
import { effect } from '@preact/signals'
import { type Client, ClientError } from '../../../src/client/client'
import { createFollower } from '../../../src/web/console/list/follower'
import { ownDaemon } from '../../harness/own-daemon'
import { until } from '../../harness/until'
import { numbered, openList } from './opened-list'

const { daemon, createPlants } = ownDaemon({ args: ['--keep-changes', '1d'] })
const CHANGES = 3000

test('many changes redraw the table only a few times', async () => {
  const { list } = await openList(daemon)
  const told: bigint[] = []
  const follower = createFollower(list, async (changes) => {
    list.changeAll(new Map(changes.map(({ id, after }) => [id, after])))
    told.push(...changes.map(({ id }) => id))
  })
  await follower.start()
  let drawn = 0
  effect(() => {
    list.rows.version.value
    drawn += 1
  })
  await createPlants(numbered(0, CHANGES, 'Rose'))
  await until('the changes', () => list.rows.readCount.value === CHANGES && told.length === CHANGES)
  follower.stop()

  expect(drawn).toBeLessThan(CHANGES / 10)
  expect(list.rows.row(CHANGES - 1)?.id).toBe(BigInt(CHANGES - 1))
})

test('the last changes before an expired cursor are shown, then the table is read again', async () => {
  const { session, list } = await openList(daemon)
  const steps: string[] = []
  Object.assign(list, { refresh: () => void steps.push('read') })
  const gone = { ok: false, error: 41001, status: 410, message: 'gone' } as const
  const changes = async function* () {
    if (steps.length > 0) return
    yield { id: 1n, after: { name: 'Rose' }, cursor: 'a' }
    throw new ClientError(gone)
  }
  session.persist = async (send) => {
    const ending = send({ changes } as unknown as Client)
    return { ...(await ending.catch(({ failure }: ClientError) => failure)), isRepeated: false }
  }
  const follower = createFollower(list, async () => void steps.push('changes'))
  await follower.start()

  await until('two steps', () => steps.length === 2)
  follower.stop()
  expect(steps).toEqual(['changes', 'read'])
})
