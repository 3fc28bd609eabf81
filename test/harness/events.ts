// A follower: the events of a stream, as any reader of server-sent events takes them apart.
import type { ChangeLogEntry } from '../../src/change-log/change-log'

export type Event = { readonly id?: string; readonly event?: string; readonly data?: string }

const toEvent = (block: string): Event =>
  Object.fromEntries(
    block
      .split('\n')
      .filter((line) => !line.startsWith(':'))
      .map((line) => line.split(/: (.*)/s).slice(0, 2)),
  )

/** Reads the events of an answer, as they come. */
export async function* readEvents(answer: Response): AsyncGenerator<Event, void, void> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of answer.body ?? []) {
    const blocks = (text + decoder.decode(bytes, { stream: true })).split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) yield toEvent(block)
  }
}

/** The next so many events with data. */
export async function take(
  events: AsyncGenerator<Event, void, void>,
  count: number,
): Promise<(Event & { readonly change: Omit<ChangeLogEntry, 'id'> & { readonly id: number } })[]> {
  const found = []
  while (found.length < count) {
    const { value, done } = await events.next()
    if (done || !value) throw new Error(`the stream ended after ${found.length} of ${count} events`)
    if (value.data !== undefined) found.push({ ...value, change: JSON.parse(value.data) })
  }
  return found
}
