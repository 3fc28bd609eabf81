// Sends mutated bodies to the daemon: `bun test/hostile/fuzz.ts [--bodies 100000] [--seed N] [--connections 48]`.
import { parseArgs } from 'node:util'
import { builtProgram, startDaemon } from '../harness/daemon'
import { temporaryFolder } from '../harness/folder'
import { type Answer, createClient } from '../harness/http'
import { storedPlants } from '../harness/plants'
import { bare, chunked, request } from './case'
import { faultOfError, faultOfHead } from './expect'
import { createRandom, mutate, pick, type Random } from './mutate'
import { judge, type OraclePlant } from './oracle'

const { values } = parseArgs({
  args: Bun.argv.slice(2),
  options: {
    bodies: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    connections: { type: 'string', default: '48' },
  },
})

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`${text} is not a whole number`)
  return Number(text)
}

const bodies = wholeNumber(values.bodies)
const seed = wholeNumber(values.seed)
const connections = wholeNumber(values.connections)

const MAX_SHOWN = 20
const words = ['Rosa', '苔', 'Ærø', '🌵', '', 'a\tb', "O'Brien", '"quoted"', 'x'.repeat(60)]

using folder = temporaryFolder()
const database = folder.file('plants.db')
await using daemon = await startDaemon({ database, program: builtProgram() })
const { port } = daemon

/** The acknowledged plants by their ids. */
const acknowledged = new Map<bigint, OraclePlant>()
const answers = new Map<number, number>()
const violations: string[] = []
let next = 0

function violate(what: string, body: Uint8Array): void {
  const shown = JSON.stringify(Buffer.from(body).toString('latin1')).slice(0, 300)
  violations.push(`${what}: ${shown}`)
  if (violations.length <= MAX_SHOWN) console.error(violations.at(-1))
}

// Ids are spread over all of int64, and no two are the same.
function validBody(n: number, random: Random): Buffer {
  const id = BigInt.asIntN(64, BigInt(n) * 0x9e3779b97f4a7c15n)
  const name = JSON.stringify(`${pick(random, words)}${n}`)
  const tag = random(2) ? `,"tag":${JSON.stringify(pick(random, words))}` : ''
  const more = random(4) ? '' : ',"height":1.50,"x":[{"id":null},"y"]'
  return Buffer.from(
    random(2) ? `{"id":${id},"name":${name}${tag}${more}}` : `{"name":${name}${tag}, "id": ${id}}`,
  )
}

function framed(body: Uint8Array, random: Random): Uint8Array {
  if (random(8) > 0) return request({ body })
  const at = 1 + random(body.length)
  const rest = chunked(body.subarray(at))
  // An empty chunk is the last one: an empty body has only that.
  const isCut = at < body.length
  const first = `${at.toString(16)}\r\n${Buffer.from(body.subarray(0, at)).toString('latin1')}\r\n`
  const sent = isCut ? Buffer.concat([Buffer.from(first, 'latin1'), rest]) : body
  if (!isCut) return request({ body, ...(body.length > 0 ? { framing: 'chunked' } : {}) })
  return request({ body: sent, framing: 'none', fields: ['Transfer-Encoding: chunked'] })
}

const isSame = (a: OraclePlant | undefined, b: OraclePlant): boolean =>
  a?.name === b.name && a.tag === b.tag

function check(body: Buffer, answer: Answer): void {
  const verdict = judge(body)
  const error = answer.status === 200 ? 200 : Number(/^\{"error":(\d+)/.exec(answer.body)?.[1])
  answers.set(error, (answers.get(error) ?? 0) + 1)
  if (error !== 200) {
    const fault = faultOfError(answer.body, body) ?? faultOfHead(answer)
    if (fault !== null) violate(fault, body)
    if (Math.floor(error / 100) !== answer.status) violate(`${answer.status} with ${error}`, body)
  }
  if (verdict === null) {
    if (error !== 40001 && error !== 200) violate(`${error} for deep nesting`, body)
  } else if (typeof verdict === 'number') {
    if (error !== verdict) violate(`${error} instead of ${verdict}`, body)
  } else {
    checkCreate(verdict, error, answer, body)
  }
}

function checkCreate(plant: OraclePlant, error: number, answer: Answer, body: Buffer): void {
  const { id, name, tag } = plant
  if (error === 200) {
    if (acknowledged.has(id)) violate('200 for an id that was acknowledged before', body)
    acknowledged.set(id, plant)
    if (answer.body !== JSON.stringify({ name, tag })) violate('200 with another plant', body)
  } else if (error !== 40901 && error !== 40902) {
    violate(`${error} for a plant`, body)
  } else {
    conflicts.push({ plant, error, body })
  }
}

// Which of two plants with one id was first is only known at the end: both may be in flight.
const conflicts: { plant: OraclePlant; error: number; body: Buffer }[] = []

async function work(worker: number): Promise<void> {
  const random = createRandom(seed + worker * 7919)
  const client = createClient(port)
  let last = validBody(bodies + worker, random)
  while (next < bodies) {
    const n = next++
    // Some are sent again, as by clients that retry.
    const valid = random(50) ? validBody(n, random) : last
    const body = random(10) ? mutate(valid, random) : valid
    last = valid
    const answer = await client.exchange(framed(body, random)).catch(() => undefined)
    if (answer) check(body, answer)
    else violate('connection closed without an answer', body)
  }
  client.end()
}

const started = performance.now()
await Promise.all(Array.from({ length: connections }, (_, worker) => work(worker)))
const seconds = (performance.now() - started) / 1000

for (const { plant, error, body } of conflicts) {
  const first = acknowledged.get(plant.id)
  if (!first) violate(`${error} for an id that was never acknowledged`, body)
  else if (isSame(first, plant) !== (error === 40901))
    violate(`${error} for the wrong reason`, body)
}
const rows = storedPlants(database)
for (const { id, name, tag } of rows) {
  const plant = acknowledged.get(id)
  if (!plant || !isSame(plant, tag === null ? { id, name } : { id, name, tag })) {
    violate(`plant ${id} is stored, but not as acknowledged`, Buffer.from(name))
  }
}
const lost = acknowledged.size - rows.length
if (lost > 0) violate(`${lost} acknowledged plants are not in the store`, Buffer.from(''))
const client = createClient(port)
const health = await client.exchange(bare('GET /health'))
client.end()
if (health?.status !== 200) violate('the daemon is not healthy', Buffer.from(''))
if (daemon.events().some(({ event }) => event === 'unexpected')) {
  violate('the daemon logged something unexpected', Buffer.from(daemon.err().slice(-200)))
}

const counts = [...answers].sort(([a], [b]) => a - b).map(([error, count]) => `${error}: ${count}`)
console.log(
  `fuzz: ${bodies} bodies in ${seconds.toFixed(1)} s, seed ${seed}; ${counts.join(', ')}; ${rows.length} stored`,
)
console.log(`${bodies - violations.length} passed, ${violations.length} failed`)
process.exitCode = violations.length > 0 ? 1 : 0
