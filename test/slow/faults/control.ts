// The negative control: a small server that keeps plants the way the daemon does, but for one
// safeguard that a flag gives up. A fault that it survives does not test that safeguard.
import { dlopen, FFIType } from 'bun:ffi'
import { Database } from 'bun:sqlite'
import { closeSync, openSync } from 'node:fs'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    database: { type: 'string', default: 'control.db' },
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '0' },
    synchronous: { type: 'string', default: 'full' },
    'trust-page-cache': { type: 'boolean', default: false },
  },
})

const dontNeed = 4

function dropCachedPages(path: string): void {
  const libc = dlopen('libc.so.6', {
    posix_fadvise: { args: [FFIType.int, FFIType.i64, FFIType.i64, FFIType.int], returns: 'int' },
  })
  try {
    const fd = openSync(path, 'r')
    libc.symbols.posix_fadvise(fd, 0, 0, dontNeed)
    closeSync(fd)
  } catch {
    // No such file: nothing of it is cached.
  }
}

if (!values['trust-page-cache']) {
  dropCachedPages(values.database)
  dropCachedPages(`${values.database}-wal`)
}

const db = new Database(values.database, { create: true, strict: true, safeIntegers: true })
db.run('PRAGMA busy_timeout = 5000')
db.run('PRAGMA journal_mode = WAL')
db.run(`PRAGMA synchronous = ${values.synchronous === 'normal' ? 'NORMAL' : 'FULL'}`)
db.run(
  'CREATE TABLE IF NOT EXISTS plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT',
)
const insert = db.query('INSERT INTO plants (id, name, tag) VALUES (?1, ?2, ?3)')
const select = db.query<{ name: string; tag: string | null }, [bigint]>(
  'SELECT name, tag FROM plants WHERE id = ?1',
)

function failure(status: number, number: number, message: string): Response {
  return Response.json({ error: status * 100 + number, message }, { status })
}

let closing = false
let inFlight = 0

async function createPlant(request: Request): Promise<Response> {
  if (request.headers.get('authorization') !== `Bearer ${Bun.env.PLANTSTORE_TOKEN}`) {
    return failure(401, 1, 'no credentials')
  }
  const body = await request.text()
  const id = /"id":(-?\d+)/.exec(body)?.[1]
  if (id === undefined) return failure(400, 2, 'no id')
  const { name, tag }: { name: string; tag?: string } = JSON.parse(body)
  try {
    const known = select.get(BigInt(id))
    if (known !== null) {
      const same = known.name === name && known.tag === (tag ?? null)
      return failure(409, same ? 1 : 2, 'exists')
    }
    insert.run(BigInt(id), name, tag ?? null)
  } catch (error) {
    const full = error instanceof Error && 'code' in error && error.code === 'SQLITE_FULL'
    return full ? failure(507, 1, 'disk full') : failure(503, 2, `${error}`)
  }
  return Response.json(tag === undefined ? { name } : { name, tag })
}

const server = Bun.serve({
  hostname: values.host,
  port: Number(values.port),
  async fetch(request) {
    const path = new URL(request.url).pathname
    if (path === '/health') return Response.json({ status: 'ok' })
    if (path !== '/plants' || request.method !== 'POST') return failure(404, 1, 'no such path')
    inFlight++
    try {
      const response = await createPlant(request)
      if (closing) response.headers.set('Connection', 'close')
      return response
    } finally {
      inFlight--
    }
  },
})

process.on('SIGTERM', async () => {
  closing = true
  do await Bun.sleep(100)
  while (inFlight > 0)
  await server.stop(false)
  db.close()
  process.exit(0)
})

console.error(JSON.stringify({ event: 'listening', url: `http://127.0.0.1:${server.port}` }))
