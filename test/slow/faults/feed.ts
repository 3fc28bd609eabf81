// Compares a change log with the answers to clients: each acknowledged change once, no refused one, in the order of the
// answers; and with the stored plants.
import { type Answer, connect, request } from '../../harness/http.ts'
import type { Daemon } from './daemon.ts'
import type { Report } from './fault.ts'
import { idsOf, isDeletion, joinFields, type Operation, show, splitFields } from './history.ts'

interface Plant {
  name: string
  tag?: string
}

/** An entry of the log, as `GET /plants/changes` has it. */
export interface Entry {
  cursor: string
  action: 'create' | 'replace' | 'patch' | 'delete'
  id: number
  before: Plant | null
  after: Plant | null
  request: string | null
}

interface Page {
  changes: Entry[]
  next: string
}

const PAGE = 1000

const fieldsOf = (plant: Plant | null): string | null =>
  plant && joinFields(plant.name, plant.tag ?? '')

/** The name of an operation, which it sends as the id of its request. */
export const requestIdOf = ({ called }: Operation): string => `operation-${called}`

async function ask(daemon: Daemon, after: string | undefined): Promise<Answer | undefined> {
  const connection = await connect(daemon.port)
  const place = after === undefined ? '' : `&after=${after}`
  const path = `/plants/changes?limit=${PAGE}${place}`
  const answer = await connection.send(request('GET', path, daemon.token))
  connection.end()
  return answer
}

/** Follows the change log of whichever daemon there is, from its beginning, until it is stopped. */
export function followLog(current: () => Daemon | undefined, report: Report) {
  const seen: Entry[] = []
  let after: string | undefined
  let isStopped = false
  let resets = 0

  /** Reads a page; null if there was no answer. */
  async function turn(daemon: Daemon): Promise<number | null> {
    const answer = await ask(daemon, after).catch(() => undefined)
    if (answer === undefined || answer.status >= 500) return null
    if (answer.status === 410) {
      // Another log, of the same entries as far as they were not lost.
      seen.length = 0
      after = undefined
      resets += 1
      return PAGE
    }
    if (answer.status !== 200) {
      report.note(`the change log: ${answer.status} ${answer.body}`)
      isStopped = true
      return null
    }
    const { changes, next }: Page = JSON.parse(answer.body)
    seen.push(...changes)
    after = next
    return changes.length
  }

  const following = (async () => {
    while (!isStopped) {
      const daemon = current()
      const found = daemon ? await turn(daemon) : null
      if (found !== PAGE) await Bun.sleep(20)
    }
  })()

  return {
    /** Number of times that another log began. */
    resets: () => resets,
    /** Ends it, and reads what is left. Resolves to all entries, in the order in which it has seen them. */
    async finish(daemon: Daemon): Promise<Entry[]> {
      isStopped = true
      await following
      for (let found: number | null = PAGE; found !== 0; ) {
        found = await turn(daemon)
        if (found !== null) continue
        report.note('the change log cannot be read')
        break
      }
      return seen
    },
  }
}

/** The plant after an operation, as far as the operation determines it: null for none. */
function leaves({ request: it }: Operation, id: number, after: string | null): boolean {
  switch (it.kind) {
    case 'delete':
      return after === null
    case 'patch':
      return after !== null && splitFields(after)[1] === it.tag
    case 'create':
    case 'put':
    case 'swapAll':
      return it.plants.some((plant) => plant.id === id && plant.fields === after)
    case 'read':
      return false
    default:
      return it.fields === after
  }
}

function actionOf({ request }: Operation, before: string | null) {
  const { kind } = request
  if (kind === 'put') return before === null ? 'create' : 'replace'
  if (kind === 'swap') return 'replace'
  if (kind === 'swapAll') return isDeletion(request) ? 'delete' : 'patch'
  return kind
}

/**
 * True if the plants that have entries are those that an operation has written; all or none, but for what a put or a
 * batch of patches or deletes left.
 */
function isWhole({ request, outcome }: Operation, found: readonly number[]): boolean {
  if (outcome.is !== 'done' && outcome.is !== 'unknown') return false
  if (request.kind === 'put') {
    const { created = 0, replaced = 0 } = outcome.is === 'done' ? (outcome.counts ?? {}) : {}
    return outcome.is === 'unknown' || found.length === created + replaced
  }
  if (request.kind === 'swapAll') {
    const { conflicts = [], missing = [] } = outcome.is === 'done' ? (outcome.left ?? {}) : {}
    const left = conflicts.length + missing.length
    return outcome.is === 'unknown' || found.length === request.plants.length - left
  }
  return `${found.toSorted((a, b) => a - b)}` === `${idsOf(request).toSorted((a, b) => a - b)}`
}

/** Notes what is wrong with a log, given all operations, including the last reads of every plant. */
export function judgeLog(
  entries: readonly Entry[],
  operations: readonly Operation[],
  report: Report,
): void {
  const byRequest = new Map(operations.map((it) => [requestIdOf(it), it]))
  const entered = new Map<Operation, number[]>()
  const plants = new Map<number, string | null>()
  let number = 0
  // Who was answered before another was called comes first.
  let latestCall = -1
  for (const entry of entries) {
    const { id, request: name } = entry
    const [before, after] = [fieldsOf(entry.before), fieldsOf(entry.after)]
    const at = Number(entry.cursor.split('-')[1])
    if (at !== number + 1) report.note(`entry ${at} comes after ${number}`)
    number = at
    if ((plants.get(id) ?? null) !== before) report.note(`entry ${at} begins with ${before}`)
    plants.set(id, after)
    const operation = byRequest.get(name ?? '')
    if (!operation) {
      report.note(`entry ${at} is of ${name}, which no client sent`)
      continue
    }
    entered.set(operation, [...(entered.get(operation) ?? []), id])
    if (operation.request.kind === 'put' && before === after)
      report.note(`entry ${at} is of a plant that was not changed`)
    if (entry.action !== actionOf(operation, before) || !leaves(operation, id, after)) {
      report.note(`entry ${at}, ${entry.action} to ${after}, is not ${show(operation)}`)
    }
    if (operation.ended < latestCall) report.note(`entry ${at} comes too late: ${show(operation)}`)
    latestCall = Math.max(latestCall, operation.called)
  }
  for (const operation of operations) {
    if (operation.request.kind === 'read') continue
    const found = entered.get(operation) ?? []
    const isDone = operation.outcome.is === 'done'
    if (!isWhole(operation, found) && (isDone || found.length > 0)) {
      report.note(`${found.length} entries of ${show(operation)}`)
    }
  }
  for (const { request: it, outcome } of lastReads(operations)) {
    if (it.kind !== 'read') continue
    const stored = outcome.is === 'done' ? (outcome.fields ?? null) : null
    if ((plants.get(it.id) ?? null) !== stored) {
      report.note(`the log leaves ${plants.get(it.id)} of plant ${it.id}, stored is ${stored}`)
    }
  }
}

/** The last read of each plant. */
function lastReads(operations: readonly Operation[]): Operation[] {
  const last = new Map<number, Operation>()
  for (const it of operations) if (it.request.kind === 'read') last.set(it.request.id, it)
  return [...last.values()]
}
