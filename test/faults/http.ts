import type { Socket } from 'bun'

/** A raw client: it never retries, so what was sent and what was answered can be counted. */
export interface Answer {
  status: number
  body: string
  /** The server will close this connection. */
  close: boolean
  headers: string
}

export interface Connection {
  /** The next answer; undefined when the connection ended without one. */
  send: (bytes: string | Uint8Array) => Promise<Answer | undefined>
  /** Writes without waiting for an answer. */
  write: (bytes: string | Uint8Array) => void
  answer: () => Promise<Answer | undefined>
  closed: () => boolean
  /** Whether all that was written has been taken by the kernel. */
  flushed: () => boolean
  end: () => void
}

interface State {
  received: Buffer
  waiting: ((answer: Answer | undefined) => void)[]
  pending: Uint8Array
  closed: boolean
}

function parse(state: State): Answer | undefined {
  const end = state.received.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const headers = state.received.subarray(0, end).toString('latin1')
  const length = Number(/^content-length: *(\d+)/im.exec(headers)?.[1] ?? '0')
  const total = end + 4 + length
  if (state.received.length < total) return undefined
  const body = state.received.subarray(end + 4, total).toString()
  state.received = state.received.subarray(total)
  const status = Number(headers.slice(9, 12))
  return { status, body, headers, close: /^connection: *close/im.test(headers) }
}

function flush(socket: Socket<State>): void {
  if (socket.data.pending.length === 0) return
  const written = Math.max(0, socket.write(socket.data.pending))
  socket.data.pending = socket.data.pending.subarray(written)
}

function finish(state: State): void {
  state.closed = true
  for (const waiting of state.waiting.splice(0)) waiting(undefined)
}

export async function connect(port: number): Promise<Connection> {
  const state: State = {
    received: Buffer.alloc(0),
    waiting: [],
    pending: new Uint8Array(0),
    closed: false,
  }
  const socket = await Bun.connect<State>({
    hostname: '127.0.0.1',
    port,
    data: state,
    socket: {
      data(_, chunk) {
        state.received = Buffer.concat([state.received, chunk])
        while (state.waiting.length > 0) {
          const answer = parse(state)
          if (answer === undefined) return
          state.waiting.shift()?.(answer)
        }
      },
      drain: flush,
      close: () => finish(state),
      error: () => finish(state),
    },
  })
  const write = (bytes: string | Uint8Array) => {
    const more = typeof bytes === 'string' ? Buffer.from(bytes) : bytes
    state.pending = state.pending.length === 0 ? more : Buffer.concat([state.pending, more])
    flush(socket)
  }
  const answer = () => {
    const ready = parse(state)
    if (ready !== undefined || state.closed) return Promise.resolve(ready)
    return new Promise<Answer | undefined>((resolve) => state.waiting.push(resolve))
  }
  return {
    write,
    answer,
    send(bytes) {
      write(bytes)
      return answer()
    },
    closed: () => state.closed,
    flushed: () => state.pending.length === 0,
    end: () => socket.terminate(),
  }
}

export function request(method: string, path: string, token: string, body?: string): string {
  const head = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n`
  if (body === undefined) return `${head}\r\n`
  const length = Buffer.byteLength(body)
  return `${head}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`
}

/** One request on a connection of its own; undefined when there was no answer. */
export async function once(port: number, bytes: string): Promise<Answer | undefined> {
  const connection = await connect(port).catch(() => undefined)
  if (connection === undefined) return undefined
  const answer = await connection.send(bytes)
  connection.end()
  return answer
}

/** Sends a head and then the same chunk again and again, no faster than it is read. */
export async function pour(
  port: number,
  head: string,
  chunk: Uint8Array,
  times: number,
  end = '',
): Promise<Answer | undefined> {
  const connection = await connect(port)
  let answer: Answer | undefined
  let answered = false
  connection.send(head).then((it) => {
    answer = it
    answered = true
  })
  for (let i = 0; i < times && !answered; ) {
    if (connection.flushed()) {
      connection.write(chunk)
      i++
    } else await Bun.sleep(1)
  }
  connection.write(end)
  for (let waited = 0; !answered && waited < 10_000; waited += 5) await Bun.sleep(5)
  connection.end()
  return answer
}
