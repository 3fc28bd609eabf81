// The negative control of linearizability: a small server of plants that keeps every promise, unless a flag names one
// that it breaks. It holds its plants in memory, and in a file that outlasts a kill.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    database: { type: 'string', default: 'control.json' },
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '0' },
    breaks: { type: 'string', default: 'nothing' },
  },
})

interface Plant {
  name: string
  tag: string
}

interface NewPlant extends Plant {
  id: number
}

const { database, breaks } = values
let plants = new Map<number, Plant>(
  existsSync(database) ? JSON.parse(readFileSync(database, 'utf8')) : [],
)

function write(content: string): void {
  writeFileSync(`${database}.new`, content)
  renameSync(`${database}.new`, database)
}

function save(): void {
  const content = JSON.stringify([...plants])
  // The answer is sent long before the file is written.
  if (breaks === 'durability') setTimeout(write, 200, content)
  else write(content)
}

// The plants that a stale read returns.
let copy = plants
setInterval(() => {
  copy = new Map(plants)
}, 200)

const failure = (error: number, message = '') =>
  Response.json({ error, message }, { status: Math.floor(error / 100) })
const idOf = (path: string) => Number(path.slice('/plants/'.length))
const absent = () => failure(40402)
const entityTagOf = ({ name, tag }: Plant) => `"${name}/${tag}"`
const answer = (id: number, plant: Plant = { name: '', tag: '' }) =>
  Response.json({ id, ...plant }, { headers: { etag: entityTagOf(plant) } })

const isEqual = (one: Plant | undefined, other: Plant) =>
  one?.name === other.name && one.tag === other.tag

function conflictOf(id: number, plant: Plant): Response | undefined {
  const taken = plants.get(id)
  if (taken === undefined) return undefined
  return failure(isEqual(taken, plant) ? 40901 : 40902, `id ${id}: a plant with this id exists`)
}

function createAll(batch: NewPlant[], answer: unknown): Response {
  const before = new Map(plants)
  for (const { id, ...plant } of batch) {
    const conflict = conflictOf(id, plant)
    if (conflict !== undefined) {
      if (breaks !== 'whole-batches') plants = before
      return conflict
    }
    plants.set(id, plant)
  }
  return Response.json(answer)
}

async function putAll(batch: NewPlant[]): Promise<Response> {
  const counts = { created: 0, replaced: 0, unchanged: 0 }
  for (const { id, ...plant } of batch) {
    const found = plants.get(id)
    counts[!found ? 'created' : isEqual(found, plant) ? 'unchanged' : 'replaced'] += 1
  }
  // Others may come between the look and the change.
  if (breaks === 'puts') await Bun.sleep(5)
  for (const { id, ...plant } of batch) plants.set(id, plant)
  return Response.json(counts)
}

type Update = NewPlant & { was?: Plant }

/** Patches plants that are as they were, or deletes those that are as the request has them. */
async function swapAll(batch: Update[], made: 'patched' | 'deleted'): Promise<Response> {
  const toIds = (some: Update[]) => some.map(({ id }) => ({ id }))
  const missing = batch.filter(({ id }) => !plants.has(id))
  const same = batch.filter(({ id, was, ...plant }) => isEqual(plants.get(id), was ?? plant))
  const conflicts = batch.filter((it) => !missing.includes(it) && !same.includes(it))
  // Others may come between the look and the change.
  if (breaks === made) await Bun.sleep(5)
  for (const { id, name, tag } of same) {
    if (made === 'deleted') plants.delete(id)
    else plants.set(id, { name, tag })
  }
  return Response.json({
    [made]: same.length,
    conflicts: toIds(conflicts),
    missing: toIds(missing),
  })
}

async function change(method: string, path: string, request: Request): Promise<Response> {
  const body = method === 'DELETE' ? undefined : JSON.parse(await request.text())
  if (path === '/plants/batch' && method === 'PUT') return putAll(body.plants)
  if (path === '/plants/batch' && method === 'PATCH') return swapAll(body.plants, 'patched')
  if (path === '/plants/batch-delete') return swapAll(body.plants, 'deleted')
  if (path === '/plants/batch') return createAll(body.plants, { created: body.plants.length })
  if (path === '/plants') return createAll([body], { name: body.name, tag: body.tag })
  const id = idOf(path)
  const found = plants.get(id)
  if (found === undefined) return absent()
  const match = request.headers.get('if-match')
  if (match !== null && match !== entityTagOf(found)) return failure(41201)
  // Others may come between the look and the change.
  const isTorn =
    breaks === 'atomicity' ||
    (breaks === 'conditions' && match !== null) ||
    (breaks === 'patched' && method === 'PATCH')
  if (isTorn) await Bun.sleep(5)
  if (breaks === 'conditions' && !plants.has(id)) return absent()
  if (body === undefined) plants.delete(id)
  else plants.set(id, method === 'PATCH' ? { ...found, ...body } : body)
  return body === undefined ? new Response(null, { status: 204 }) : answer(id, plants.get(id))
}

const server = Bun.serve({
  hostname: values.host,
  port: Number(values.port),
  async fetch(request) {
    const path = new URL(request.url).pathname
    if (request.method === 'GET') {
      const id = idOf(path)
      const plant = (breaks === 'fresh-reads' ? copy : plants).get(id)
      return plant === undefined ? absent() : answer(id, plant)
    }
    const response = await change(request.method, path, request)
    save()
    // Every so many changes it says that there was none.
    return breaks === 'refusals' && Math.random() < 0.1 ? failure(50302) : response
  },
})

console.error(JSON.stringify({ event: 'listening', url: `http://127.0.0.1:${server.port}` }))
