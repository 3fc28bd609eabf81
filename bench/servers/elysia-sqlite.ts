// The obvious Elysia server: one durable commit per create.
import { Database } from 'bun:sqlite'
import { bearer } from '@elysiajs/bearer'
import { Elysia, t } from 'elysia'

const [port, file, token] = process.argv.slice(2)
const db = new Database(file, { create: true })
db.run('PRAGMA journal_mode = WAL')
db.run('PRAGMA synchronous = FULL')
db.run('CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT')
const insert = db.query('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?)')

new Elysia()
  .use(bearer())
  .post(
    '/plants',
    ({ body }) => {
      insert.run(body.id, body.name, body.tag ?? null)
      return { name: body.name, tag: body.tag }
    },
    {
      beforeHandle: ({ bearer, status }) => {
        if (bearer !== token) return status(401)
      },
      body: t.Object({ id: t.Integer(), name: t.String(), tag: t.Optional(t.String()) }),
    },
  )
  .listen({ hostname: '127.0.0.1', port: Number(port), reusePort: false })
