// Clients that compete for a few plants, and record their requests and the responses.

import { type Answer, type Connection, connect, request } from '../../harness/http.ts'
import { inTime } from '../../harness/until.ts'
import type { Daemon } from './daemon.ts'
import { requestIdOf } from './feed.ts'
import {
  type Fields,
  type History,
  isDeletion,
  joinFields,
  type Outcome,
  type Request,
  splitFields,
  startHistory,
} from './history.ts'

const CLIENTS = 64
const GROUPS = 4
const GROUP = 5
const IDS = Array.from({ length: GROUPS * GROUP }, (_, index) => index + 1)
// The client that reads every plant in the end.
const READER = CLIENTS

const below = (n: number) => Math.floor(Math.random() * n)

// A batch takes its plants of one group, so that a history need only be explained group by group.
function pickGroup(most: number): number[] {
  const first = 1 + GROUP * below(GROUPS)
  const group = Array.from({ length: GROUP }, (_, index) => first + index)
  return group.sort(() => Math.random() - 0.5).slice(0, 2 + below(most - 1))
}

const pickBatch = (fields: string): Request => ({
  kind: 'create',
  plants: pickGroup(GROUP).map((id) => ({ id, fields })),
})

/**
 * Half of the plants as they were seen last. Two at a time: it succeeds always, and the checker follows its plants
 * together.
 */
const pickPut = (fields: string, seen: Seen): Request => ({
  kind: 'put',
  plants: pickGroup(2).map((id) => {
    const last = Math.random() < 0.5 ? seen.get(id)?.expected : undefined
    return { id, fields: last ?? fields }
  }),
})

/** Plants that must be as they were seen last. Two at a time, as of {@link pickPut}. */
const pickSwapAll = (value: string, fields: Fields | null, seen: Seen): Request => ({
  kind: 'swapAll',
  plants: pickGroup(2).map((id) => ({ id, expected: seen.get(id)?.expected ?? value, fields })),
})

/** The latest state of a plant seen by any client. */
type Seen = Map<number, { expected: Fields; entityTag: string }>

/** More deletes than creates, so that a batch finds its ids free now and then. */
function pickRequest(fields: string, seen: Seen): Request {
  const id = 1 + below(IDS.length)
  const last = seen.get(id)
  const dice = Math.random()
  if (dice < 0.2) return { kind: 'create', plants: [{ id, fields }] }
  if (dice < 0.3) return { kind: 'replace', id, fields }
  if (dice < 0.45 && last) return { kind: 'swap', id, ...last, fields }
  if (dice < 0.55) return { kind: 'patch', id, tag: fields }
  if (dice < 0.75) return { kind: 'delete', id }
  if (dice < 0.9) return { kind: 'read', id }
  if (dice < 0.96) return pickBatch(fields)
  if (dice < 0.975) return pickPut(fields, seen)
  return pickSwapAll(fields, dice < 0.985 ? fields : null, seen)
}

function plantOf(fields: Fields) {
  const [name, tag] = splitFields(fields)
  return { name, tag }
}

const toPlant = ({ id, fields }: { id: number; fields: Fields }) => ({ id, ...plantOf(fields) })

function textOf(token: string, it: Request, id: string): string {
  const send = (method: string, path: string, body?: unknown, headers = {}) =>
    request(method, path, token, body === undefined ? undefined : JSON.stringify(body), {
      ...headers,
      'x-request-id': id,
    })
  switch (it.kind) {
    case 'create': {
      const [first, ...others] = it.plants.map(toPlant)
      if (others.length === 0) return send('POST', '/plants', first)
      return send('POST', '/plants/batch', { plants: [first, ...others] })
    }
    case 'put':
      return send('PUT', '/plants/batch', { plants: it.plants.map(toPlant) })
    case 'replace':
      return send('PUT', `/plants/${it.id}`, plantOf(it.fields))
    case 'swap':
      return send('PUT', `/plants/${it.id}`, plantOf(it.fields), { 'if-match': it.entityTag })
    case 'patch':
      return send('PATCH', `/plants/${it.id}`, { tag: it.tag })
    case 'delete':
      return send('DELETE', `/plants/${it.id}`)
    case 'read':
      return send('GET', `/plants/${it.id}`)
    case 'swapAll': {
      const plants = it.plants.map(({ id, expected, fields }) =>
        fields === null
          ? toPlant({ id, fields: expected })
          : { ...toPlant({ id, fields }), was: plantOf(expected) },
      )
      if (isDeletion(it)) return send('POST', '/plants/batch-delete', { plants })
      return send('PATCH', '/plants/batch', { plants })
    }
  }
}

const idsIn = (plants: readonly { id: number }[]): number[] => plants.map(({ id }) => id)

/** The outcome of an answer; undefined if the service does not document it. */
function outcomeOf(it: Request, { status, body }: Answer): Outcome | undefined {
  if (status === 204) return it.kind === 'delete' ? { is: 'done' } : undefined
  const { error, message, name, tag, ...counts } = JSON.parse(body)
  if (status === 200) {
    if (it.kind === 'put') return { is: 'done', counts }
    if (it.kind === 'swapAll') {
      const { deleted, patched, conflicts, missing } = counts
      const made = deleted ?? patched
      if (made + conflicts.length + missing.length !== it.plants.length) return undefined
      return { is: 'done', left: { conflicts: idsIn(conflicts), missing: idsIn(missing) } }
    }
    const isShown = it.kind === 'read' || it.kind === 'patch'
    return isShown ? { is: 'done', fields: joinFields(name, tag) } : { is: 'done' }
  }
  if (error === 40402) return { is: 'absent' }
  if (error === 41201) return it.kind === 'swap' ? { is: 'mismatch' } : undefined
  if (it.kind === 'create' && (error === 40901 || error === 40902)) {
    const id = it.plants.length > 1 ? Number(/\bid (\d+)/.exec(message)?.[1]) : undefined
    const taken = it.plants.find((plant) => plant.id === (id ?? plant.id))
    return taken && { is: 'exists', id: taken.id, same: error === 40901 }
  }
  return status >= 500 && error !== 50001 ? { is: 'refused', error } : undefined
}

export type LinearLoad = ReturnType<typeof startLinearLoad>

/** A client's requests, written down with what came of them. */
function createScribe(history: History) {
  const strange: string[] = []
  const ended = new Set<Daemon>()
  const seen: Seen = new Map()

  function remember(it: Request, { headers, body }: Answer): void {
    if (headers.etag === undefined || !('id' in it)) return
    const { name, tag } = JSON.parse(body)
    seen.set(it.id, { expected: joinFields(name, tag), entityTag: headers.etag })
  }

  return {
    /** Answers that should not have come, and reads in the end that had none. */
    strange,
    /** Daemons whose processes have ended. */
    ended,
    seen,
    async ask(client: number, daemon: Daemon, connection: Connection, it: Request) {
      const operation = history.call(client, it)
      const answer = await connection.send(textOf(daemon.token, it, requestIdOf(operation)))
      if (answer === undefined) {
        if (ended.has(daemon)) history.abandon(operation)
        return { is: 'unknown' } as const
      }
      const outcome = outcomeOf(it, answer)
      remember(it, answer)
      if (outcome === undefined) strange.push(`${it.kind} -> ${answer.status} ${answer.body}`)
      history.answer(operation, outcome ?? { is: 'unknown' })
      return outcome
    },
  }
}

type Targets = (Daemon | undefined)[]

/** Starts clients on connections that they keep, each with one operation under way, until `isStopped`. */
function startClients(
  { ask, seen }: ReturnType<typeof createScribe>,
  targets: Targets,
  isStopped: () => boolean,
  pauseMs: number,
) {
  let written = 0

  async function converse(client: number, current: Daemon, again?: Request) {
    const connection = await connect(current.port)
    let next = again
    while (!isStopped() && !connection.closed()) {
      const it = next ?? pickRequest(`v${++written}`, seen)
      next = undefined
      const outcome = await ask(client, current, connection, it)
      // As the docs advise: a request without a response is sent again.
      if (outcome?.is === 'unknown') next = it
      if (outcome?.is === 'refused') await Bun.sleep(20)
      await Bun.sleep(Math.random() * pauseMs)
    }
    connection.end()
    return next
  }

  async function runClient(client: number): Promise<void> {
    let again: Request | undefined
    while (!isStopped()) {
      const current = targets[client % targets.length]
      if (current) again = await converse(client, current, again).catch(() => again)
      // Its connection was closed: it waits a little, as clients should.
      if (!isStopped()) await Bun.sleep(50 + Math.random() * 100)
    }
  }

  return Promise.all(Array.from({ length: CLIENTS }, (_, client) => runClient(client)))
}

/** 64 clients on connections that they keep, each with one operation under way, shared out to daemons of one store. */
export function startLinearLoad(daemons: readonly Daemon[], pauseMs = 4) {
  const history = startHistory()
  const scribe = createScribe(history)
  const targets: Targets = [...daemons]
  let isStopped = false
  const clients = startClients(scribe, targets, () => isStopped, pauseMs)

  /** Reads every plant once. */
  async function readAll(): Promise<void> {
    for (const target of targets) {
      if (target === undefined) throw new Error('there is no daemon to be read')
      const connection = await connect(target.port)
      for (const id of IDS) {
        const outcome = await scribe.ask(READER, target, connection, { kind: 'read', id })
        const isRead = outcome?.is === 'done' || outcome?.is === 'absent'
        if (!isRead) scribe.strange.push(`plant ${id} cannot be read: ${JSON.stringify(outcome)}`)
      }
      connection.end()
    }
  }

  const endedAs = (is: Outcome['is']) =>
    history.operations.filter(
      ({ outcome, request }) => outcome.is === is && request.kind !== 'read',
    )

  return {
    history,
    strange: scribe.strange,
    refusals: () => endedAs('refused').length,
    /** Changes that were acknowledged. */
    changes: () => endedAs('done').length,
    /** Those of them that had to find what was expected. */
    swaps: () => endedAs('done').filter(({ request }) => request.kind === 'swap').length,
    /** The daemon of a place. */
    target: (place = 0) => targets[place],
    /** Sends the requests of a place to another daemon from now on; undefined: to none. */
    turnTo(next: Daemon | undefined, place = 0): void {
      targets[place] = next
    },
    /** The process has ended, and its sessions; no requests are sent until another has started. */
    processEnded(daemon: Daemon, place = 0): void {
      scribe.ended.add(daemon)
      targets[place] = undefined
      history.processEnded((client) => client % targets.length === place)
    },
    /** Ends the load when every client has its answer, and reads every plant. */
    async finish(): Promise<void> {
      isStopped = true
      await inTime(() => 'the last answers', clients, 20_000)
      await readAll()
    },
    readAll,
  }
}
