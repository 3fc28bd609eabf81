import type { Socket } from 'bun'

/** An answer as it came over the wire. */
export type Answer = {
  readonly status: number
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A connection that sends exactly the bytes it is given, and never tries again. */
export type Connection = {
  readonly write: (bytes: Uint8Array | string) => void
  /** Ends this side of the connection: nothing more is sent. */
  readonly cut: () => void
  /** The next answer; null when the daemon closes the connection without one. */
  readonly answer: (method?: string) => Promise<Answer | null>
  /** Resolves when the daemon has closed the connection, to what it sent that was not read as an answer. */
  readonly closed: Promise<string>
  /** Whether nothing has come so far but what was read as an answer. */
  readonly isSilent: () => boolean
  readonly end: () => void
}

type State = {
  received: Buffer
  pending: Uint8Array
  isClosed: boolean
  wake: () => void
  settle: (rest: string) => void
}

function parse(received: Buffer, method: string): { answer: Answer; length: number } | null {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return null
  const [line = '', ...fields] = received.toString('latin1', 0, end).split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(`${line} `)?.[1])
  if (!status) throw new Error(`not a status line: ${line}`)
  const headers: Record<string, string> = {}
  for (const field of fields) {
    const [, name = '', value = ''] = /^([^:]+): ?(.*)$/.exec(field) ?? []
    headers[name.toLowerCase()] = value
  }
  if ('transfer-encoding' in headers) throw new Error('an answer in chunks, which none should be')
  const size = method === 'HEAD' ? 0 : Number(headers['content-length'] ?? 0)
  const length = end + 4 + size
  if (received.length < length) return null
  return { answer: { status, headers, body: received.toString('utf8', end + 4, length) }, length }
}

function flush(socket: Socket<State>): void {
  const { data } = socket
  while (data.pending.length > 0) {
    const written = socket.write(data.pending)
    if (written <= 0) return
    data.pending = data.pending.subarray(written)
  }
}

function finish({ data }: Socket<State>): void {
  data.isClosed = true
  data.settle(data.received.toString('latin1'))
  data.wake()
}

/** Connects to a daemon on this machine. */
export async function connect(port: number): Promise<Connection> {
  const { promise: closed, resolve: settle } = Promise.withResolvers<string>()
  const state: State = {
    received: Buffer.alloc(0),
    pending: new Uint8Array(),
    isClosed: false,
    wake: () => {},
    settle,
  }
  const socket = await Bun.connect<State>({
    hostname: '127.0.0.1',
    port,
    allowHalfOpen: true,
    data: state,
    socket: {
      data(_, chunk) {
        state.received = Buffer.concat([state.received, chunk])
        state.wake()
      },
      drain: flush,
      end: finish,
      close: finish,
      error: finish,
    },
  })
  return {
    closed,
    isSilent: () => state.received.length === 0,
    write(bytes) {
      const more = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes
      state.pending = state.pending.length > 0 ? Buffer.concat([state.pending, more]) : more
      flush(socket)
    },
    cut: () => socket.shutdown(),
    async answer(method = 'GET') {
      for (;;) {
        const parsed = parse(state.received, method)
        if (parsed) {
          state.received = state.received.subarray(parsed.length)
          return parsed.answer
        }
        if (state.isClosed) return null
        await new Promise<void>((resolve) => {
          state.wake = resolve
        })
      }
    },
    end: () => socket.terminate(),
  }
}
