import { expect, test } from 'bun:test'
import { reportOutages } from '../../src/outbound/outages'

test('reports an outage at once, then less and less often, and its end once', async () => {
  const told: string[] = []
  let time = 0
  let status: number | null = 200
  const ask = reportOutages(
    async () => {
      if (status === null) throw new Error('nothing is listening')
      return new Response(null, { status })
    },
    'http://a',
    (line) => told.push(`${time / 60_000}: ${line}`),
    () => time,
  )
  const minutes = async (to: number) => {
    for (; time < to * 60_000; time += 5000) await ask('http://a', {}).catch(() => {})
  }

  await minutes(1)
  expect(told).toEqual([])
  status = null
  await minutes(12)
  status = 503
  await minutes(17)
  status = 401
  await minutes(20)
  status = 503
  await minutes(20.5)

  expect(told).toEqual([
    '1: waiting for the daemon: nothing is listening',
    '2: still waiting for the daemon: nothing is listening',
    '4: still waiting for the daemon: nothing is listening',
    '8: still waiting for the daemon: nothing is listening',
    '16: still waiting for the daemon: http://a answered 503',
    '17: the daemon at http://a answers again',
    '20: waiting for the daemon: http://a answered 503',
  ])
})

test('reports nothing for an aborted request', async () => {
  const told: string[] = []
  const ask = reportOutages(
    () => Promise.reject(new Error('aborted')),
    'http://a',
    (line) => told.push(line),
    () => 0,
  )
  await ask('http://a', { signal: AbortSignal.abort() }).catch(() => {})

  expect(told).toEqual([])
})
