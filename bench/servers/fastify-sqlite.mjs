// The obvious Fastify server: one durable commit per create.
import Database from 'better-sqlite3'
import Fastify from 'fastify'

const [port, file, token] = process.argv.slice(2)
const db = new Database(file)
db.pragma('journal_mode = WAL')
db.pragma('synchronous = FULL')
db.exec('CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT')
const insert = db.prepare('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?)')

const newPlant = {
  type: 'object',
  required: ['id', 'name'],
  properties: { id: { type: 'integer' }, name: { type: 'string' }, tag: { type: 'string' } },
}
const plant = {
  type: 'object',
  properties: { name: { type: 'string' }, tag: { type: 'string' } },
}

const app = Fastify()
app.addHook('onRequest', async (request, reply) => {
  if (request.headers.authorization !== `Bearer ${token}`) return reply.code(401).send()
})
app.post('/plants', { schema: { body: newPlant, response: { 200: plant } } }, async (request) => {
  const { id, name, tag } = request.body
  insert.run(id, name, tag ?? null)
  return { name, tag }
})
await app.listen({ host: '127.0.0.1', port: Number(port) })
