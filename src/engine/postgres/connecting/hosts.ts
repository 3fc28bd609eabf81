// Chooses among the hosts of the URL. All are asked at once: an old primary that boots again accepts writes, too, so the
// first one that does is not believed.

import { OpenError } from '../../../errors'
import type { Log } from '../../../log'
import { type Connection, connectTo } from './connection'
import { explainFailedConnection, noServerError } from './errors'
import type { Standing } from './settings'
import { addressOf, type Host, type PostgresTarget } from './url'

/** A server that lacks acknowledged writes is used if no other has answered for this long. */
const LACKING_MS = 60_000
/** The same for a server promoted in the meantime: writes wait no longer than 10 s. */
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
  readonly last: Answered | null
  /** Milliseconds since it was lost. */
  readonly lostFor: number
}

/** The memory of a process, and its view of other hosts. */
export type ConnectContext = Memory & {
  /** True if another host has a newer history than the last one: every host is waited for. */
  readonly isContested: boolean
  /** Resolves to false if a server lacks writes that were acknowledged by this process. */
  readonly hasAll: (connection: Connection) => Promise<boolean>
  /** Called with each host that accepts writes but is not used. */
  readonly onUnusedPrimary: (host: Host) => void
  /** Called at the first connect with each host that has not answered, the reason, and the host that is used. */
  readonly onSilentHost: (host: Host, reason: string, used: Host) => void
}

const NEW_CONTEXT: ConnectContext = {
  last: null,
  lostFor: 0,
  isContested: false,
  hasAll: async () => true,
  onUnusedPrimary: () => {},
  onSilentHost: () => {},
}

const isNewer = (a: Standing, b: Standing): boolean =>
  a.cluster !== '' && a.cluster === b.cluster && a.timeline > b.timeline

type Answered = Pick<Candidate, 'host' | 'standing'>

const isSameServer = (a: Answered, b: Answered): boolean =>
  a.host === b.host || (a.standing.server !== '' && a.standing.server === b.standing.server)

const namesOf = (candidates: readonly Candidate[]): string =>
  candidates.map(({ host }) => addressOf(host)).join(' and ')

/** The candidates whose history is as new as that of every host that answered. */
const newestOf = (candidates: readonly Candidate[], answered: readonly Candidate[]): Candidate[] =>
  candidates.filter(
    (candidate) => !answered.some((other) => isNewer(other.standing, candidate.standing)),
  )

/** Logs a host that has not answered: an old primary may be used instead. */
export const logSilent =
  (log: Log): ConnectContext['onSilentHost'] =>
  (host, reason, used) => {
    const detail = `${reason}; ${addressOf(used)} is used, and may be an old primary`
    log('warn', 'server-silent', { host: addressOf(host), detail })
  }

const NONE = 'none can be used'
const STOP_ONE = 'stop the one that is not the primary, or remove it from the URL'

/** Returns the host to use, or the reason that none is. `isComplete`: every host has answered. */
export type ChooseHost = (
  candidates: readonly Candidate[],
  memory: Memory,
  isComplete: boolean,
) => Candidate | string

/** The host to write to: the newest history wins, and two that cannot be told apart are refused. */
export const chooseHost: ChooseHost = (candidates, { last, lostFor }, isComplete) => {
  const writable = candidates
    .filter(({ standing }) => standing.isWritable)
    .toSorted((a, b) => Number(b.host === last?.host) - Number(a.host === last?.host))
  const newest = newestOf(writable, candidates)
  const distinct = newest.filter(
    (candidate, index) => newest.findIndex((other) => isSameServer(candidate, other)) === index,
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
  const rival = candidates.find(({ hasAll }) => hasAll)
  if (rival?.standing.isWritable) {
    return `two servers accept writes, and the newer, ${namesOf([first])}, lacks writes acknowledged by ${namesOf([rival])}; ${STOP_ONE}`
  }
  const patience = last && isNewer(first.standing, last.standing) ? PROMOTED_MS : LACKING_MS
  if (lostFor >= patience || (!rival && isComplete)) return first
  return `${namesOf([first])} lacks acknowledged writes; it is used if no other server has accepted writes for ${patience / 1000} s`
}

/** The host that a daemon reads, whether or not it accepts writes: the last one, else the first in the URL. */
export const chooseReadable: ChooseHost = (candidates, { last }) => {
  const newest = newestOf(candidates, candidates).filter(({ hasAll }) => hasAll)
  const chosen = newest.find(({ host }) => host === last?.host) ?? newest[0]
  return (
    chosen ??
    (candidates.length === 0 ? NONE : `${namesOf(candidates)} lacks the history that was read`)
  )
}

/** The host that a command reads: the primary; a standby only if the URL names nothing else. */
export const chooseForCommand: ChooseHost = (candidates, memory, isComplete) => {
  const isAlone = isComplete && !candidates.some(({ standing }) => standing.isWritable)
  return (isAlone ? chooseReadable : chooseHost)(candidates, memory, isComplete)
}

type Answer = Candidate & { readonly connection: Connection }
type Failure = { readonly host: Host; readonly reason: string }

/**
 * Connects to all hosts, and keeps the connection to the one to use. Rejects with an `OpenError` that lists each host's
 * problem. Once `stopSignal` is aborted, closes the connections and rejects with the reason.
 */
export async function connect(
  target: PostgresTarget,
  choose = chooseHost,
  stopSignal: AbortSignal = new AbortController().signal,
  partialContext: Partial<ConnectContext> = {},
): Promise<Connection> {
  stopSignal.throwIfAborted()
  const context = { ...NEW_CONTEXT, ...partialContext }
  const { last } = context
  const answers: Answer[] = []
  const failures: Failure[] = []
  const completeHost = Promise.withResolvers<void>()

  async function ask(host: Host, abandonSignal: AbortSignal): Promise<void> {
    try {
      const connection = await connectTo(host, target, AbortSignal.any([stopSignal, abandonSignal]))
      const { standing } = connection
      const hasAll =
        !(last && isNewer(last.standing, standing)) && (await context.hasAll(connection))
      const answer = { host, connection, standing, hasAll }
      answers.push(answer)
      const isUsable = hasAll && choose([answer], context, false) === answer
      if (last && isUsable && !context.isContested) setTimeout(completeHost.resolve, GRACE_MS)
    } catch (error) {
      failures.push({ host, reason: await explainFailedConnection(error, host, target) })
    }
  }

  const attempts = target.hosts.map((host) => ({ host, abandon: new AbortController() }))
  await Promise.race([
    Promise.all(attempts.map(({ host, abandon }) => ask(host, abandon.signal))),
    completeHost.promise,
  ])
  const inOrder = target.hosts.flatMap((host) => answers.filter((answer) => answer.host === host))
  const choice = choose(inOrder, context, answers.length === attempts.length)
  const chosen = answers.find((answer) => answer === choice)
  for (const { host, abandon } of attempts) if (host !== chosen?.host) abandon.abort()
  stopSignal.throwIfAborted()
  if (!chosen) throw refusalOf(target.hosts, failures, String(choice))
  for (const answer of answers) {
    const { isWritable } = answer.standing
    if (isWritable && chosen.standing.isWritable && !isSameServer(answer, chosen))
      context.onUnusedPrimary(answer.host)
  }
  if (!last)
    for (const { host, reason } of failures) context.onSilentHost(host, reason, chosen.host)
  return chosen.connection
}

/**
 * Asks the other hosts while one is used. Resolves to one with a newer history, if there is one: then the server in use
 * is an old primary, or follows one.
 */
export async function findNewer(
  target: PostgresTarget,
  used: Answered,
  stopSignal: AbortSignal,
  onUnusedPrimary: (host: Host) => void,
): Promise<Host | undefined> {
  const { standing } = used
  const others = target.hosts.filter((host) => host !== used.host)
  const attempts = others.map((host) => connectTo(host, target, stopSignal))
  const results = await Promise.allSettled(attempts)
  const answers = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
  for (const answer of answers) answer.close().catch(() => {})
  for (const answer of answers) {
    if (isNewer(answer.standing, standing)) return answer.host
    if (answer.standing.isWritable && standing.isWritable && !isSameServer(answer, used))
      onUnusedPrimary(answer.host)
  }
  return undefined
}

function refusalOf(
  hosts: readonly Host[],
  failures: readonly Failure[],
  choice: string,
): OpenError {
  if (choice !== NONE) {
    const otherFailures = failures.map(({ host, reason }) => `; ${addressOf(host)}: ${reason}`)
    return new OpenError(choice + otherFailures.join(''))
  }
  const reasonOf = (host: Host) => failures.find((failure) => failure.host === host)?.reason
  return noServerError(
    hosts.map((host) => ({ host, reason: reasonOf(host) ?? 'read-only, like a standby' })),
  )
}
