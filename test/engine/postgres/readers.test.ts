// The limit of reads that wait for one connection.
import { expect, test } from 'bun:test'
import { limitWaiting } from '../../../src/engine/postgres/connecting/readers'

test('refuses a read behind a thousand that wait, and accepts one for each that ends', async () => {
  const answers: (() => void)[] = []
  const ask = limitWaiting(
    // A connection that answers when it is told to.
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
