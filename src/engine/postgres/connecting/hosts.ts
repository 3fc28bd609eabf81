// Chooses among the hosts of the URL. All are asked at once: an old primary that boots again accepts writes, too, so the
// first one that does is not believed.

import { OpenError } from '../../../errors'
import { type Connection, connectTo } from './connection'
import { explainFailedConnection, noServerError } from './errors'
import type { Standing } from './settings'
import { addressOf, type Host, type PostgresTarget } from './url'

/** A server without acknowledged writes is used if no other has answered for this long. */
const LACKING_MS = 60_000
/** The same for a server that was promoted since: writes wait no longer than 10 s. */
const PROMOTED_MS = 5000
// Wait for the other hosts once one is known to have every acknowledged write.
const GRACE_MS = 500

/** A host that has answered. */
export type Candidate = {
  readonly host: Host
  readonly standing: Standing
  /** False if the server lacks writes that were acknowledged by this process. */
  readonly hasAll: boolean
}

/** The server that a process has used. */
export type Memory = {
  /** Null: none yet. */
  readonly last: Pick<Candidate, 'host' | 'standing'> | null
  /** Milliseconds since it was lost. */
  readonly lostFor: number
}

/** The memory of a process that has used several servers, or may come to do so. */
export type Witness = Memory & {
  /** Resolves to false if a server lacks writes that were acknowledged by this process. */
  readonly hasAll: (connection: Connection) => Promise<boolean>
  /** Called with each host that accepts writes, and is not used. */
  readonly passedOver: (host: Host) => void
}

const NO_WITNESS: Witness = {
  last: null,
  lostFor: 0,
  hasAll: async () => true,
  passedOver: () => {},
}

const isNewer = (one: Standing, other: Standing): boolean =>
  one.cluster !== '' && one.cluster === other.cluster && one.timeline > other.timeline

const isSameServer = (one: Candidate, other: Candidate): boolean =>
  one.host === other.host ||
  (one.standing.server !== '' && one.standing.server === other.standing.server)

const namesOf = (candidates: readonly Candidate[]): string =>
  candidates.map(({ host }) => addressOf(host)).join(' and ')

/** Those whose history no other's exceeds. */
const newestOf = (candidates: readonly Candidate[], seen: readonly Candidate[]): Candidate[] =>
  candidates.filter((it) => !seen.some((other) => isNewer(other.standing, it.standing)))

const NONE = 'none can be used'
const STOP_ONE = 'stop the one that is not the primary, or remove it from the URL'

/** Returns the host to use, or the reason that none is. `isComplete`: every host has answered. */
export type ChooseHost = (
  seen: readonly Candidate[],
  memory: Memory,
  isComplete: boolean,
) => Candidate | string

/** The host to write to: the newest history wins, and two that cannot be told apart are refused. */
export const chooseHost: ChooseHost = (seen, { last, lostFor }, isComplete) => {
  const writable = seen
    .filter(({ standing }) => standing.isWritable)
    .toSorted((a, b) => Number(b.host === last?.host) - Number(a.host === last?.host))
  const newest = newestOf(writable, seen)
  const distinct = newest.filter(
    (it, index) => newest.findIndex((other) => isSameServer(it, other)) === index,
  )
  const [first, second] = distinct.some(({ hasAll }) => hasAll)
    ? distinct.filter(({ hasAll }) => hasAll)
    : distinct
  if (!first) {
    return writable.length === 0
      ? NONE
      : `${namesOf(writable)} accepts writes, but another server has a newer history; ${STOP_ONE}`
  }
  const isProven = last !== null && first.hasAll
  if (second && !(isProven && first.host === last.host)) {
    return `two servers accept writes, ${namesOf([first, second])}; ${STOP_ONE}`
  }
  if (first.hasAll) return first
  const other = seen.find(({ hasAll }) => hasAll)
  if (other?.standing.isWritable) {
    return `two servers accept writes, and the newer, ${namesOf([first])}, lacks writes acknowledged by ${namesOf([other])}; ${STOP_ONE}`
  }
  const patience = last && isNewer(first.standing, last.standing) ? PROMOTED_MS : LACKING_MS
  if (lostFor >= patience || (!other && isComplete)) return first
  return `${namesOf([first])} lacks acknowledged writes; it is used if no other server has accepted writes for ${patience / 1000} s`
}

/** The host that a daemon reads, whether or not it accepts writes: the last one, else the first in the URL. */
export const chooseReadable: ChooseHost = (seen, { last }) => {
  const newest = newestOf(seen, seen).filter(({ hasAll }) => hasAll)
  const chosen = newest.find(({ host }) => host === last?.host) ?? newest[0]
  return chosen ?? (seen.length === 0 ? NONE : `${namesOf(seen)} lacks the history that was read`)
}

/** The host that a command reads: the primary; a standby only if the URL names nothing else. */
export const chooseForCommand: ChooseHost = (seen, memory, isComplete) => {
  const isAlone = isComplete && !seen.some(({ standing }) => standing.isWritable)
  return (isAlone ? chooseReadable : chooseHost)(seen, memory, isComplete)
}

type Answer = Candidate & { readonly connection: Connection }
type Failure = { readonly host: Host; readonly reason: string }

/**
 * Connects to all hosts, and keeps the connection to the one to use. Rejects with an `OpenError` that lists each host's
 * problem. Once `ended` is aborted, closes the connections and rejects with the reason.
 */
export async function connect(
  target: PostgresTarget,
  choose = chooseHost,
  ended: AbortSignal = new AbortController().signal,
  witness: Witness = NO_WITNESS,
): Promise<Connection> {
  ended.throwIfAborted()
  const { last } = witness
  const answers: Answer[] = []
  const failures: Failure[] = []
  const proven = Promise.withResolvers<void>()

  async function ask(host: Host, over: AbortSignal): Promise<void> {
    try {
      const connection = await connectTo(host, target, AbortSignal.any([ended, over]))
      const { standing } = connection
      const hasAll =
        !(last && isNewer(last.standing, standing)) && (await witness.hasAll(connection))
      const answer = { host, connection, standing, hasAll }
      answers.push(answer)
      if (last && choose([answer], witness, false) === answer && hasAll)
        setTimeout(proven.resolve, GRACE_MS)
    } catch (error) {
      failures.push({ host, reason: await explainFailedConnection(error, host, target) })
    }
  }

  const asked = target.hosts.map((host) => ({ host, over: new AbortController() }))
  await Promise.race([
    Promise.all(asked.map(({ host, over }) => ask(host, over.signal))),
    proven.promise,
  ])
  const inOrder = target.hosts.flatMap((host) => answers.filter((it) => it.host === host))
  const choice = choose(inOrder, witness, answers.length === asked.length)
  const used = answers.find((it) => it === choice)
  for (const { host, over } of asked) if (host !== used?.host) over.abort()
  ended.throwIfAborted()
  if (!used) throw refusalOf(target.hosts, failures, String(choice))
  for (const it of answers) {
    const { isWritable } = it.standing
    if (isWritable && used.standing.isWritable && !isSameServer(it, used))
      witness.passedOver(it.host)
  }
  return used.connection
}

function refusalOf(
  hosts: readonly Host[],
  failures: readonly Failure[],
  choice: string,
): OpenError {
  if (choice !== NONE) {
    const others = failures.map(({ host, reason }) => `; ${addressOf(host)}: ${reason}`)
    return new OpenError(choice + others.join(''))
  }
  const reasonOf = (host: Host) => failures.find((it) => it.host === host)?.reason
  return noServerError(
    hosts.map((host) => ({ host, reason: reasonOf(host) ?? 'read-only, like a standby' })),
  )
}
