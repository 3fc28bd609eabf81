// The obvious Hono server: one durable commit per create.
import { Database } from 'bun:sqlite'
import { Hono } from 'hono'
import { bearerAuth } from 'hono/bearer-auth'
import { validator } from 'hono/validator'

const [port, file, token = ''] = process.argv.slice(2)
const db = new Database(file, { create: true })
db.run('PRAGMA journal_mode = WAL')
db.run('PRAGMA synchronous = FULL')
db.run('CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT')
const insert = db.query('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?)')

const newPlant = validator('json', ({ id, name, tag }, c) => {
  if (!Number.isInteger(id) || typeof name !== 'string') return c.text('not a plant', 400)
  if (tag !== undefined && typeof tag !== 'string') return c.text('not a plant', 400)
  return { id, name, tag }
})

const app = new Hono()
app.post('/plants', bearerAuth({ token }), newPlant, (c) => {
  const { id, name, tag } = c.req.valid('json')
  insert.run(id, name, tag ?? null)
  return c.json({ name, tag })
})

Bun.serve({ hostname: '127.0.0.1', port: Number(port), fetch: app.fetch })
