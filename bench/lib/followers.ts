// A process of clients that follow the change log: `bun lib/followers.ts PORT TOKEN COUNT`. Prints a line once all
// have the head of their stream; when its standard input ends, the milliseconds from each create to its arrival.
import { quantile } from './statistics.ts'

const NAME = Buffer.from('"after":{"name":"')
const HEAD = Buffer.from('retry: ')

/** Of all the clients: a sample is the first change of a read, which has waited longest. */
export type Arrivals = {
  readonly samples: number
  readonly median: number
  readonly p99: number
  readonly longest: number
}

/** The time that a plant's name says that it was sent at. */
export const nameNow = (): string => (performance.timeOrigin + performance.now()).toFixed(3)

async function follow(port: number, token: string, onArrival: (milliseconds: number) => void) {
  const begun = Promise.withResolvers<void>()
  let hasBegun = false
  await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      open(socket) {
        socket.write(
          `GET /plants/changes?after=now HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${token}\r\nAccept: text/event-stream\r\n\r\n`,
        )
      },
      data(_, bytes) {
        if (!hasBegun && bytes.includes(HEAD)) {
          hasBegun = true
          begun.resolve()
        }
        const at = bytes.indexOf(NAME)
        if (at < 0) return
        const from = at + NAME.length
        const sentAt = Number(bytes.toString('latin1', from, bytes.indexOf(34, from)))
        onArrival(performance.timeOrigin + performance.now() - sentAt)
      },
      close: () => begun.reject(new Error('the stream ended')),
    },
  })
  await begun.promise
}

if (import.meta.main) {
  const [port, token = '', count] = Bun.argv.slice(2)
  const found: number[] = []
  for (let left = Number(count); left > 0; left -= 100) {
    const some = Array.from({ length: Math.min(100, left) }, () =>
      follow(Number(port), token, (milliseconds) => found.push(milliseconds)),
    )
    await Promise.all(some)
  }
  console.log('open')
  await Bun.stdin.text()
  const sorted = Float64Array.from(found).sort()
  const at = (share: number) => (sorted.length > 0 ? quantile([...sorted], share) : 0)
  const arrivals: Arrivals = {
    samples: sorted.length,
    median: at(0.5),
    p99: at(0.99),
    longest: sorted.at(-1) ?? 0,
  }
  console.log(JSON.stringify(arrivals))
  process.exit()
}
