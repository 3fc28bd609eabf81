// The limit of reads that wait for one connection.
import { expect, test } from 'bun:test'
import { limitWaiting } from '../../../src/engine/postgres/connecting/readers'

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
