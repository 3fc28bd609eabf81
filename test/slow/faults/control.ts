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

const failure = (error: number) =>
  Response.json({ error, message: '' }, { status: Math.floor(error / 100) })

function createPlant(body: string): Response {
  const id = BigInt(/"id":(-?\d+)/.exec(body)?.[1] ?? '')
  const { name, tag = null }: { name: string; tag?: string | null } = JSON.parse(body)
  try {
    const known = select.get(id)
    if (known) return failure(known.name === name && known.tag === tag ? 40901 : 40902)
    insert.run(id, name, tag)
  } catch {
    return failure(50302)
  }
  return Response.json({})
}

// Of all requests, it gets only creates.
const server = Bun.serve({
  hostname: values.host,
  port: Number(values.port),
  fetch: async (request) => createPlant(await request.text()),
})

process.on('SIGTERM', () => {
  db.close()
  process.exit(0)
})

console.error(JSON.stringify({ event: 'listening', url: `http://127.0.0.1:${server.port}` }))
