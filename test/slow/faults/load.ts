// Clients that create plants, and record the responses.

import { type Answer, type Connection, connect, isLast, once, request } from '../../harness/http.ts'
import type { Service } from './daemon.ts'
import { comesTrue } from './fault.ts'

export interface Plant {
  id: bigint
  name: string
  tag: string | undefined
}

/** Refused: a 4xx or 5xx promises that nothing was stored. Unknown: no answer came. */
export type Fate = 'stored' | 'refused' | 'unknown'

export interface Entry {
  fate: Fate
  error: number
}

/** The fate of each plant, by its number. */
export type Ledger = Map<number, Entry>

const letters = ['Rosa', 'Quercus', '苔', 'Ærø', '"quoted"', "O'Brien", '🌵', 'line\nbreak', '']

/** Plants from this number on have names of 900 KB. */
export const bulky = 2 ** 40

/** The plant of a number. Ids are spread over all of int64, so that every page of the tree is written. */
export function plantOf(n: number): Plant {
  const letter = letters[n % letters.length] ?? ''
  const padding = 'x'.repeat(n >= bulky ? 900_000 : n % 97)
  return {
    id: BigInt.asIntN(64, BigInt(n) * 0x9e3779b97f4a7c15n),
    name: letter === '' ? '' : `${letter} ${n} ${padding}`,
    tag: n % 3 === 0 ? undefined : n % 3 === 1 ? '' : `tag ${n}`,
  }
}

export function bodyOf(n: number): string {
  const { id, name, tag } = plantOf(n)
  const rest = JSON.stringify({ name, tag })
  return `{"id":${id},${rest.slice(1)}`
}

/** 40901 means that an earlier attempt stored this plant. */
export function fateOf(answer: Answer | undefined): Entry {
  if (answer === undefined) return { fate: 'unknown', error: 0 }
  if (answer.status === 200) return { fate: 'stored', error: 0 }
  const error = errorOf(answer)
  return { fate: error === 40901 ? 'stored' : 'refused', error }
}

export function errorOf(answer: Answer): number {
  try {
    const body: unknown = JSON.parse(answer.body)
    if (body !== null && typeof body === 'object' && 'error' in body) return Number(body.error)
  } catch {
    // -1, which no fault expects.
  }
  return -1
}

// The time until a client connects again to a daemon that is not there.
const RECONNECT_MS = 20

export type Load = ReturnType<typeof startLoad>

export interface LoadOptions {
  clients?: number
  /** The first number; later loads on one store must start beyond earlier ones. */
  from?: number
  atMost?: number
  ledger?: Ledger
  onStored?: (n: number) => void
  pauseMs?: number
  /** Opens a new connection when one closes; an unanswered plant stays unknown. */
  reconnect?: boolean
}

/** Starts clients on keep-alive connections, each with one create in flight. */
export function startLoad(daemon: Service, options: LoadOptions = {}) {
  const ledger = options.ledger ?? new Map<number, Entry>()
  const errors = new Map<number, number>()
  const first = options.from ?? nextNumber(ledger)
  let next = first
  let stopped = false

  const connections = new Set<Connection>()
  const wanted = () => !stopped && next - first < (options.atMost ?? Infinity)

  async function client(): Promise<void> {
    do {
      const connection = await connect(daemon.port).catch(() => undefined)
      if (connection === undefined) {
        await Bun.sleep(RECONNECT_MS)
        continue
      }
      connections.add(connection)
      await converse(connection)
      connections.delete(connection)
    } while (options.reconnect && wanted())
  }

  async function converse(connection: Connection): Promise<void> {
    while (wanted() && !connection.closed()) {
      const n = next++
      ledger.set(n, { fate: 'unknown', error: 0 })
      const answer = await connection.send(request('POST', '/plants', daemon.token, bodyOf(n)))
      const entry = fateOf(answer)
      ledger.set(n, entry)
      if (entry.fate === 'stored') options.onStored?.(n)
      if (entry.fate === 'refused') {
        errors.set(entry.error, (errors.get(entry.error) ?? 0) + 1)
        await Bun.sleep(5)
      }
      if (answer === undefined || isLast(answer)) break
      if (options.pauseMs !== undefined) await Bun.sleep(Math.random() * options.pauseMs)
    }
    connection.end()
  }

  const clients = Array.from({ length: options.clients ?? 16 }, () => client().catch(() => {}))
  const ended = Promise.all(clients).then(() => {})
  return {
    ledger,
    errors,
    /** Resolves when every client has ended. */
    ended,
    /** Sends no more requests, and waits for the answers to those sent. */
    async stop() {
      stopped = true
      await ended
    },
    /** Closes the connections; requests without an answer stay unknown. */
    abandon() {
      stopped = true
      for (const connection of connections) connection.end()
    },
  }
}

export function nextNumber(ledger: Ledger): number {
  let last = 0
  for (const n of ledger.keys()) if (n > last) last = n
  return last + 1
}

/** How many plants have each fate. */
export function tally(ledger: Ledger): Record<Fate, number> {
  const all = { stored: 0, refused: 0, unknown: 0 }
  for (const { fate } of ledger.values()) all[fate]++
  return all
}

export function storedIn(ledger: Ledger): number {
  return tally(ledger).stored
}

/** Waits until so many more plants are acknowledged. */
export function acknowledged(ledger: Ledger, more: number, ms: number): Promise<boolean> {
  const goal = storedIn(ledger) + more
  return comesTrue(ms, () => storedIn(ledger) >= goal)
}

/** Sends every plant again whose fate is unknown. */
export async function settle(daemon: Service, ledger: Ledger): Promise<void> {
  for (const [n, { fate }] of ledger) {
    if (fate !== 'unknown') continue
    ledger.set(n, fateOf(await create(daemon, n)))
  }
}

export function create(daemon: Service, n: number): Promise<Answer | undefined> {
  return once(daemon.port, request('POST', '/plants', daemon.token, bodyOf(n)))
}

export async function health(daemon: Service): Promise<number> {
  return (await once(daemon.port, request('GET', '/health', daemon.token)))?.status ?? 0
}

/** Creates one plant after another until one is acknowledged. */
export async function recovers(daemon: Service, ledger: Ledger, ms: number): Promise<boolean> {
  return comesTrue(ms, async () => {
    const n = nextNumber(ledger)
    const entry = fateOf(await create(daemon, n))
    ledger.set(n, entry)
    if (entry.fate !== 'stored') await Bun.sleep(200)
    return entry.fate === 'stored'
  })
}

/**
 * Returns a function by which acknowledgements that came after this call count as unknown: without power, no answer
 * leaves a machine.
 */
export function forgetLater(ledger: Ledger): () => void {
  const before = new Map(ledger)
  return () => {
    for (const [n, { fate }] of ledger) {
      if (fate === 'stored' && before.get(n)?.fate !== 'stored') {
        ledger.set(n, { fate: 'unknown', error: 0 })
      }
    }
  }
}
