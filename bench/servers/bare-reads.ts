// The ceiling of reads from SQLite on Bun: compares one header, runs one statement, writes JSON.
import { Database } from 'bun:sqlite'

const [port, file, token] = process.argv.slice(2)
const db = new Database(file, { readwrite: true, create: false, safeIntegers: true })
const headers = new Headers({
  'Content-Type': 'application/json',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
})
const credentials = `Bearer ${token}`

type Row = { id: bigint; name: string; tag: string | null }
const one = db.query<Row, [bigint]>('SELECT id, name, tag FROM plants WHERE id = ?')
const page = db.query<Row, [bigint, number]>(
  'SELECT id, name, tag FROM plants WHERE id > ? ORDER BY id LIMIT ?',
)
const toJson = ({ id, name, tag }: Row) => ({ id: Number(id), name, tag: tag ?? undefined })

const isAllowed = (request: Request) => request.headers.get('authorization') === credentials
const refused = () => new Response(null, { status: 401 })

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(port),
  routes: {
    '/plants/:id': {
      GET(request) {
        if (!isAllowed(request)) return refused()
        const row = one.get(BigInt(request.params.id))
        if (!row) return new Response(null, { status: 404 })
        return new Response(JSON.stringify(toJson(row)), { headers })
      },
    },
    '/plants': {
      GET(request) {
        if (!isAllowed(request)) return refused()
        const query = new URLSearchParams(request.url.slice(request.url.indexOf('?')))
        const plants = page.all(BigInt(query.get('after') ?? 0), Number(query.get('limit')))
        const next = String(plants.at(-1)?.id)
        return new Response(JSON.stringify({ plants: plants.map(toJson), next }), { headers })
      },
    },
  },
  fetch: () => new Response(null, { status: 404 }),
})
