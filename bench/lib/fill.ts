// Adds plants before a measurement.
import { nthId, type Order } from './ids.ts'
import { database, executable } from './plantstore.ts'
import { run } from './processes.ts'
import type { Running } from './server.ts'

/** Creates the plants `from` to `to - 1` over HTTP; existing ones stay. */
export async function seed(server: Running, from: number, to: number): Promise<void> {
  let next = from
  async function client(): Promise<void> {
    while (next < to) {
      const id = nthId('ascending', next++)
      const answer = await fetch(`${server.url}/plants`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Authorization: `Bearer ${server.create.token}`,
        },
        body: server.create.body.replace('#', String(id)),
      })
      await answer.arrayBuffer()
      if (answer.status !== 200 && answer.status !== 409) {
        throw new Error(`cannot create plant ${id}: ${answer.status}`)
      }
    }
  }
  await Promise.all(Array.from({ length: 64 }, client))
}

/** Imports the plants `from` to `to - 1` into the database of a stopped daemon. */
export async function importPlants(folder: string, order: Order, from: number, to: number) {
  const encoder = new TextEncoder()
  let next = from
  const plants = new ReadableStream({
    pull(controller) {
      if (next >= to) return controller.close()
      let text = ''
      for (const end = Math.min(to, next + 10_000); next < end; next++) {
        text += `{"id":${nthId(order, next)},"name":"Monstera deliciosa","tag":"aroid"}\n`
      }
      controller.enqueue(encoder.encode(text))
    },
  })
  const argv = [executable, 'import', '-', '--format', 'ndjson', '--database', database(folder)]
  await run({ argv }, plants)
}
