// Errors of a server with another language in lc_messages, as Bun's driver reads them.
import { expect, test } from 'bun:test'
import { SQL } from 'bun'
import { isInDoubt, sqlStateOf } from '../../../src/engine/postgres/connection/errors'

/** A server that answers with an error, in PostgreSQL's order of fields, and hangs up. */
function startRefusing(localized: string, severity: string) {
  const fields = [`S${localized}`, `V${severity}`, 'C53100', 'Mнет места', '']
  const body = Buffer.from(fields.map((field) => `${field}\0`).join(''))
  const head = Buffer.from('E\0\0\0\0')
  head.writeInt32BE(body.length + 4, 1)
  return Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket) {
        socket.end(Buffer.concat([head, body]))
      },
    },
  })
}

test.each([
  ['ПАНИКА', 'PANIC', true],
  ['PANIK', 'PANIC', true],
  ['ВАЖНО', 'FATAL', true],
  ['FEHLER', 'ERROR', false],
])(
  'a severity of %s, in any language, counts as %s: in doubt is %p',
  async (localized, severity, isOpen) => {
    using server = startRefusing(localized, severity)
    const sql = new SQL({
      adapter: 'postgres',
      hostname: '127.0.0.1',
      port: server.port,
      username: 'u',
      database: 'n',
      tls: 'disable',
      max: 1,
    })

    const error = await sql`SELECT 1`.catch((thrown: unknown) => thrown)
    await sql.close({ timeout: 0 })

    expect(sqlStateOf(error)).toBe('53100')
    expect(isInDoubt(error)).toBe(isOpen)
  },
)
