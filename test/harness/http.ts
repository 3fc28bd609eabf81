// HTTP by hand: a connection that sends exactly the bytes it is given, never retries, and reads the answers in order.
import type { Socket } from 'bun'
import { inTime } from './until'

export type Answer = {
  readonly status: number
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The argument of `connect`: the URL of a daemon, or its port on 127.0.0.1. */
export type Address = string | number

export type Connection = Awaited<ReturnType<typeof connect>>

type Bytes = string | Uint8Array

type Waiting = {
  readonly method: string
  readonly resolve: (answer: Answer | undefined) => void
  readonly reject: (error: unknown) => void
}

type State = {
  received: Buffer
  unsent: Uint8Array
  isClosed: boolean
  /** Calls of `answer` in their order. */
  readonly waiting: Waiting[]
  /** Resolved, and made anew, whenever bytes come or go, or the connection closes. */
  news: PromiseWithResolvers<void>
}

function openSocket({ hostname, protocol, port }: URL, state: State): Promise<Socket<State>> {
  const isSecure = protocol === 'https:'
  return Bun.connect<State>({
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || (isSecure ? 443 : 80),
    // Certificates under test are signed by nobody.
    ...(isSecure ? { tls: { rejectUnauthorized: false, serverName: hostname } } : {}),
    allowHalfOpen: true,
    data: state,
    socket: {
      data({ data }, chunk) {
        data.received = Buffer.concat([data.received, chunk])
        deliver(data)
      },
      drain: flush,
      end: ({ data }) => close(data),
      close: ({ data }) => close(data),
      error: ({ data }) => close(data),
    },
  })
}

/** Opens a connection. `using connection = await connect(daemon.url)` closes it at the end of the block. */
export async function connect(to: Address) {
  const state: State = {
    received: Buffer.alloc(0),
    unsent: new Uint8Array(),
    isClosed: false,
    waiting: [],
    news: Promise.withResolvers(),
  }
  const url = new URL(typeof to === 'number' ? `http://127.0.0.1:${to}` : to)
  const socket = await openSocket(url, state)
  const received = () => state.received.toString('latin1')
  const news = (what: string, holds: () => boolean): Promise<void> => {
    const reading = async () => {
      while (!holds() && !state.isClosed) await state.news.promise
    }
    return inTime(() => `${what}; received: ${received()}`, reading())
  }

  return {
    /** Sends bytes, or a text in UTF-8, and waits for nothing. */
    write(bytes: Bytes): void {
      const more = typeof bytes === 'string' ? Buffer.from(bytes) : bytes
      state.unsent = state.unsent.length > 0 ? Buffer.concat([state.unsent, more]) : more
      flush(socket)
    },
    /** Resolves when the kernel has taken all that was written. */
    drained: () => news('all bytes sent', () => state.unsent.length === 0),
    /** The next answer; undefined if the connection closes first. The answer to a HEAD has no body. */
    answer(method = 'GET'): Promise<Answer | undefined> {
      const { promise, resolve, reject } = Promise.withResolvers<Answer | undefined>()
      state.waiting.push({ method, resolve, reject })
      deliver(state)
      return promise
    },
    /** Sends a request and resolves to its answer. */
    send(bytes: Bytes, method = 'GET'): Promise<Answer | undefined> {
      this.write(bytes)
      return this.answer(method)
    },
    /** Received bytes that are not yet read as an answer, one character per byte. */
    received,
    /** Resolves to `received()` once it matches or the connection is closed. */
    async receive(pattern: RegExp): Promise<string> {
      await news(`bytes that match ${pattern}`, () => pattern.test(received()))
      return received()
    },
    closed: () => state.isClosed,
    /** Resolves to `received()` when the other side has closed the connection. */
    async whenClosed(): Promise<string> {
      await news('a closed connection', () => false)
      return received()
    },
    /** Ends this side of the connection: nothing more is sent. */
    cut: (): void => void socket.shutdown(),
    end: (): void => socket.terminate(),
    [Symbol.dispose]: (): void => socket.terminate(),
  }
}

/** A client that sends one request after another on one connection, and opens another when that is closed. */
export function createClient(to: Address) {
  let connection: Connection | undefined
  return {
    /** The answer; undefined if the connection was closed without one. */
    async exchange(bytes: Bytes, method = 'GET'): Promise<Answer | undefined> {
      connection ??= await connect(to)
      const answer = await connection.send(bytes, method)
      if (!answer || isLast(answer)) this.end()
      return answer
    },
    end(): void {
      connection?.end()
      connection = undefined
    },
  }
}

/** One request on a connection of its own; undefined if there was no connection or no answer. */
export async function once(to: Address, bytes: Bytes): Promise<Answer | undefined> {
  using connection = await connect(to).catch(() => null)
  return await connection?.send(bytes)
}

/** Sends a head, then a chunk again and again, no faster than it is read, until there is an answer. */
export async function pour(
  to: Address,
  head: string,
  chunk: Uint8Array,
  times: number,
  end = '',
): Promise<Answer | undefined> {
  using connection = await connect(to)
  let isAnswered = false
  const answer = connection.send(head).finally(() => {
    isAnswered = true
  })
  for (let sent = 0; sent < times && !isAnswered; sent++) {
    connection.write(chunk)
    await Promise.race([connection.drained(), answer])
  }
  connection.write(end)
  return await Promise.race([answer, Bun.sleep(10_000).then(() => undefined)])
}

/** True if the connection closes after this answer. */
export const isLast = ({ headers }: Answer): boolean =>
  headers.connection?.toLowerCase() === 'close'

/** The head of a request: `head('GET /plants')`. */
export function head(line: string, headers: Readonly<Record<string, string>> = {}): string {
  const fields = Object.entries({ host: 'localhost', ...headers })
  return [`${line} HTTP/1.1`, ...fields.map(([name, value]) => `${name}: ${value}`), '\r\n'].join(
    '\r\n',
  )
}

/** A whole request with a token and, if there is one, a body of JSON. */
export function request(
  method: string,
  path: string,
  token: string,
  body?: string,
  headers: Readonly<Record<string, string>> = {},
): string {
  const authorization = `Bearer ${token}`
  if (body === undefined) return head(`${method} ${path}`, { authorization, ...headers })
  return `${head(`${method} ${path}`, {
    authorization,
    ...headers,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
  })}${body}`
}

function deliver(state: State): void {
  for (let next = state.waiting[0]; next; next = state.waiting[0]) {
    try {
      const parsed = parse(state.received, next.method)
      if (!parsed && !state.isClosed) break
      state.received = state.received.subarray(parsed?.length ?? 0)
      next.resolve(parsed?.answer)
    } catch (error) {
      next.reject(error)
    }
    state.waiting.shift()
  }
  announce(state)
}

function close(state: State): void {
  state.isClosed = true
  deliver(state)
}

function flush(socket: Socket<State>): void {
  const { data } = socket
  while (data.unsent.length > 0) {
    const written = socket.write(data.unsent)
    if (written <= 0) return
    data.unsent = data.unsent.subarray(written)
  }
  announce(data)
}

function announce(state: State): void {
  state.news.resolve()
  state.news = Promise.withResolvers()
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
  if ('transfer-encoding' in headers) throw new Error('a chunked answer, which none should be')
  const size = method === 'HEAD' ? 0 : Number(headers['content-length'] ?? 0)
  const length = end + 4 + size
  if (received.length < length) return null
  return { answer: { status, headers, body: received.toString('utf8', end + 4, length) }, length }
}
