import { expect, test } from 'bun:test'
import { reportOutages } from '../../src/outbound/outages'

test('a follower reports an outage once, and its end once', async () => {
  const told: string[] = []
  let status: number | null = 200
  const ask = reportOutages(
    async () => {
      if (status === null) throw new Error('nothing is listening')
      return new Response(null, { status })
    },
    'http://a',
    (line) => told.push(line),
  )
  const responses = [200, null, null, 503, 401, 401, 503, 429]
  for (status of responses) await ask('http://a', {}).catch(() => {})

  expect(told).toEqual([
    'waiting for the daemon: nothing is listening',
    'the daemon at http://a answers again',
    'waiting for the daemon: http://a answered 503',
  ])
})

test('a follower reports nothing for an aborted request', async () => {
  const told: string[] = []
  const ask = reportOutages(
    () => Promise.reject(new Error('aborted')),
    'http://a',
    (line) => told.push(line),
  )
  await ask('http://a', { signal: AbortSignal.abort() }).catch(() => {})

  expect(told).toEqual([])
})
