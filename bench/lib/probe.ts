// Asks a server for next to nothing, again and again on a connection of its own: what holds up its event loop holds up
// the answer.
import { cpuTime } from './cpu.ts'
import type { Running } from './server.ts'

/** An answer: microseconds, and those of CPU that all threads of the server's process used meanwhile. */
export type Answered = { readonly latency: number; readonly cpu: number }

// No such path: neither a token nor the database is looked at.
const REQUEST = 'GET /none HTTP/1.1\r\nHost: bench\r\n\r\n'

/** Sends the next request `everyMs` after the last answer, until `signal` is aborted. */
export async function probe(
  { url, pid }: Running,
  everyMs: number,
  signal: AbortSignal,
): Promise<Answered[]> {
  const answers: Answered[] = []
  const { hostname, port } = new URL(url)
  let answered: () => void = () => {}
  let failed: (error: Error) => void = () => {}
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      // Its answer is short enough to come at once.
      data: () => answered(),
      close: () => failed(new Error('the server closed the connection of the probe')),
      error: (_, error) => failed(error),
    },
  })
  while (!signal.aborted) {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    answered = resolve
    failed = reject
    const [from, cpu] = [performance.now(), cpuTime(pid)]
    socket.write(REQUEST)
    await promise
    answers.push({ latency: (performance.now() - from) * 1000, cpu: cpuTime(pid) - cpu })
    await Bun.sleep(everyMs)
  }
  failed = () => {}
  socket.end()
  return answers
}
