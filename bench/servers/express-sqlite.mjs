// The obvious Express server: one durable commit per create.
import Database from 'better-sqlite3'
import express from 'express'

const [port, file, token] = process.argv.slice(2)
const db = new Database(file)
db.pragma('journal_mode = WAL')
db.pragma('synchronous = FULL')
db.exec('CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT')
const insert = db.prepare('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?)')

const app = express()
app.use((request, response, next) => {
  if (request.headers.authorization !== `Bearer ${token}`) return response.sendStatus(401)
  next()
})
app.use(express.json())
app.post('/plants', (request, response) => {
  const { id, name, tag } = request.body
  if (!Number.isInteger(id) || typeof name !== 'string') return response.sendStatus(400)
  if (tag !== undefined && typeof tag !== 'string') return response.sendStatus(400)
  insert.run(id, name, tag ?? null)
  response.json({ name, tag })
})
app.listen(Number(port), '127.0.0.1')
