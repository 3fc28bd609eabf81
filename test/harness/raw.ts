import { connect as connectTcp } from 'node:net'

/**
 * A connection on which a test writes what no client library would send, or does not send to the end.
 * `await using connection = await connect(url)` closes it.
 */
export async function connect(url: string) {
  const { hostname, port } = new URL(url)
  let received = ''
  let isClosed = false
  let wake = () => {}
  const socket = connectTcp({ host: hostname, port: Number(port) })
  socket.setEncoding('latin1')
  socket.on('data', (text) => {
    received += text
    wake()
  })
  // A connection that the daemon resets is closed too.
  socket.on('error', () => {})
  socket.on('close', () => {
    isClosed = true
    wake()
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  return {
    send: (text: string): void => void socket.write(text),
    /** Resolves to all that was received, when that matches or the connection is closed. */
    async receive(pattern: RegExp): Promise<string> {
      while (!pattern.test(received) && !isClosed) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      return received
    },
    async [Symbol.asyncDispose]() {
      socket.destroy()
    },
  }
}

/** The head of a request as it goes over the wire. */
export function head(line: string, headers: Readonly<Record<string, string>> = {}): string {
  const fields = Object.entries({ host: 'localhost', ...headers })
  return [`${line} HTTP/1.1`, ...fields.map(([name, value]) => `${name}: ${value}`), '\r\n'].join(
    '\r\n',
  )
}
