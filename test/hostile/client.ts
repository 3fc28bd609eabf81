import { type Answer, type Connection, connect } from './raw'

/** A client that sends one request after another on one connection, and opens another where the daemon closed it. */
export function createClient(port: number) {
  let connection: Connection | null = null

  return {
    /** The answer; null where the daemon closed the connection without one. */
    async exchange(bytes: Uint8Array, method = 'GET'): Promise<Answer | null> {
      connection ??= await connect(port)
      connection.write(bytes)
      const answer = await connection.answer(method)
      if (!answer || answer.headers.connection === 'close') this.end()
      return answer
    },
    end(): void {
      connection?.end()
      connection = null
    },
  }
}
