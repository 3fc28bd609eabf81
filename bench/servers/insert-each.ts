// The obvious server before PostgreSQL: one INSERT per create, each a commit of its own, by Bun's SQL and its pool.
import { SQL } from 'bun'
import { hashToken } from '../../src/token/token.ts'

const [port, url, token = '', connections] = process.argv.slice(2)
const sql = new SQL({ url, max: Number(connections), connection: { synchronous_commit: 'on' } })
await sql`CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)`

const expected = hashToken(token)
const UNIQUE_VIOLATION = '23505'

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(port),
  routes: {
    '/plants': {
      POST: async (request) => {
        const sent = request.headers.get('authorization')?.slice('Bearer '.length) ?? ''
        if (hashToken(sent) !== expected) return new Response(null, { status: 401 })
        const { id, name, tag } = JSON.parse(await request.text())
        if (!Number.isInteger(id) || typeof name !== 'string') {
          return new Response(null, { status: 400 })
        }
        if (tag !== undefined && typeof tag !== 'string') return new Response(null, { status: 400 })
        try {
          await sql`INSERT INTO plants (id, name, tag) VALUES (${id}, ${name}, ${tag ?? null})`
        } catch (error) {
          const isTaken = error instanceof SQL.PostgresError && error.errno === UNIQUE_VIOLATION
          return new Response(null, { status: isTaken ? 409 : 503 })
        }
        return Response.json({ name, tag })
      },
    },
  },
  fetch: () => new Response(null, { status: 404 }),
})
