// The limit of reads that wait for one connection.
import { expect, test } from 'bun:test'
import { limitWaiting } from '../../../src/engine/postgres/reads'

test('limitWaiting refuses a read while a thousand others wait', async () => {
  const answers: (() => void)[] = []
  const ask = limitWaiting(
    // Answers each query on demand.
    <T>() =>
      new Promise<T>((resolve) => {
        answers.push(() => resolve(undefined as T))
      }),
  )
  const query = async () => {}
  const waiting = Array.from({ length: 1000 }, () => ask(query))

  await expect(ask(query)).rejects.toMatchObject({ error: 'busy' })
  answers.shift()?.()
  await waiting[0]
  const next = ask(query)
  await expect(ask(query)).rejects.toMatchObject({ error: 'busy' })
  for (const answer of answers) answer()
  await Promise.all([...waiting, next])
})

test('the read of a disconnected client ends, and is not sent', async () => {
  const server = Promise.withResolvers<void>()
  let sent = 0
  const askLimited = limitWaiting(async (query) => {
    await server.promise
    return query(new Bun.SQL())
  })
  const query = async () => {
    sent += 1
  }
  const client = new AbortController()

  const read = askLimited(query, client.signal)
  client.abort()
  await expect(read).rejects.toMatchObject({ error: 'busy', message: 'the client disconnected' })
  server.resolve()

  await expect(askLimited(query, client.signal)).rejects.toHaveProperty('error', 'busy')
  await askLimited(query, new AbortController().signal)
  expect(sent).toBe(1)
})
