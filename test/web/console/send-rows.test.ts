// Plants from a file that replace stored ones, with a real daemon.
import { expect, spyOn, test } from 'bun:test'
import { sendRows } from '../../../src/web/console/import/send-rows'
import type { Session } from '../../../src/web/console/session'
import { ownDaemon } from '../../harness/own-daemon'
import { openList, requestsOf } from './opened-list'

const { daemon, stored } = ownDaemon()
const PLANTS = 500
const MAX_BODY = 2048
const { daemon: narrow } = ownDaemon({ args: ['--max-body-bytes', String(MAX_BODY)] })

/** Sends plants as rows that replace stored ones. */
const send = (session: Session, plants: readonly { id: bigint; name: string }[]) =>
  sendRows(
    session,
    plants.map((plant) => ({ ...plant, update: plant })),
    true,
    new AbortController().signal,
  )

test('repeated ids are sent in few requests, and the last row wins', async () => {
  const { session } = await openList(daemon)
  const plants = Array.from({ length: 2 * PLANTS }, (_, at) => ({
    id: BigInt(at >> 1),
    name: at % 2 ? 'second' : 'first',
  }))
  const requests = await requestsOf(daemon, async () =>
    expect(await send(session, plants)).toEqual({
      created: PLANTS,
      replaced: PLANTS,
      known: 0,
      refused: [],
    }),
  )
  expect(requests.length).toBeLessThan(PLANTS / 50)
  expect(stored(7n)?.name).toBe('second')
})

test('plants beside a refused one are stored, in requests that fit the limit', async () => {
  const { session } = await openList(narrow)
  const plants = Array.from({ length: PLANTS }, (_, at) => ({
    id: BigInt(at),
    name: at === 7 ? 'x'.repeat(MAX_BODY) : `plant ${at}`,
  }))

  expect(await send(session, plants)).toMatchObject({
    created: PLANTS - 1,
    replaced: 0,
    known: 0,
    refused: [{ plant: { id: 7n } }],
  })
})

test('a replacement whose response was lost is recognized; a plant that others changed is refused', async () => {
  await daemon.create('{"id":9001,"name":"Rose","tag":"shrub"}')
  await daemon.create('{"id":9002,"name":"Lily"}')
  const { session } = await openList(daemon)
  session.isReachable.subscribe((isReachable) => {
    const reach = () => {
      session.isReachable.value = true
    }
    if (!isReachable) queueMicrotask(reach)
  })
  const { fetch } = globalThis
  using lost = spyOn(globalThis, 'fetch')
  lost.mockImplementationOnce(
    Object.assign(
      async (...request: Parameters<typeof fetch>) => {
        await fetch(...request)
        throw new TypeError('the connection broke')
      },
      { preconnect: fetch.preconnect },
    ),
  )
  const rows = [
    { id: 9001n, name: 'Rosa', update: { id: 9001n, name: 'Rosa', was: { name: 'Rose' } } },
    { id: 9002n, name: 'Lilium', update: { id: 9002n, name: 'Lilium', was: { name: 'theirs' } } },
  ]
  const outcome = await sendRows(session, rows, true, new AbortController().signal)

  expect(outcome).toMatchObject({
    created: 0,
    replaced: 0,
    known: 1,
    refused: [{ plant: { id: 9002n } }],
  })
  expect(stored(9001n)).toMatchObject({ name: 'Rosa', tag: 'shrub' })
  expect(stored(9002n)?.name).toBe('Lily')
})
