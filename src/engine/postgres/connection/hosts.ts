// Chooses among the hosts of the URL. All are asked at once: an old primary that boots again accepts writes too, so the
// first one that does is not believed.

import { OpenError } from '../../../errors'
import type { Log } from '../../../log'
import { type Connection, connectTo } from './connection'
import { explainFailedConnection, isStarting } from './errors'
import type { Standing } from './settings'
import { addressOf, type Host, type PostgresTarget } from './url'

/** A server that lacks acknowledged writes is used if no other has answered for this long. */
const LACKING_MS = 60_000
/** The same for a server promoted in the meantime: writes wait no longer than 10 s. */
const PROMOTED_MS = 5000
// Wait for the other hosts once one is known to have every acknowledged write.
const GRACE_MS = 500
const STARTING_PAUSE_MS = 500

/** A host that has answered. */
export type Candidate = {
  readonly host: Host
  readonly standing: Standing
  /** False if the server lacks writes that were acknowledged by this process. */
  readonly hasAll: boolean
}

/** The server that a process has used. */
export type Memory = {
  /** Null before the first. */
  readonly last: Answered | null
  /** Milliseconds since it was lost. */
  readonly lostFor: number
}

/** The memory of a process, and its view of other hosts. */
export type ConnectContext = Memory & {
  /** True if every host is waited for: another one has, or may have, a newer history than the last one. */
  readonly isContested: boolean
  /** Resolves to false if a server lacks writes that were acknowledged by this process. */
  readonly hasAll: (connection: Connection) => Promise<boolean>
  /** Called with each host that accepts writes but is not used. */
  readonly onUnusedPrimary: (host: Host) => void
  readonly log: Log
}

/** The context of a process that has used no server. */
export const NEW_CONTEXT: ConnectContext = {
  last: null,
  lostFor: 0,
  isContested: false,
  hasAll: async () => true,
  onUnusedPrimary: () => {},
  log: () => {},
}

const isNewer = (a: Standing, b: Standing): boolean =>
  a.cluster !== '' && a.cluster === b.cluster && a.timeline > b.timeline

type Answered = Pick<Candidate, 'host' | 'standing'>

/** True if two answers came from one running server; if it does not show that, from one host of the URL. */
export const isSameServer = (a: Answered, b: Answered): boolean =>
  a.standing.server !== '' && b.standing.server !== ''
    ? a.standing.server === b.standing.server
    : a.host === b.host

const namesOf = (candidates: readonly Candidate[]): string =>
  candidates.map(({ host }) => addressOf(host)).join(' and ')

/** The candidates whose history is as new as that of every host that answered. */
const newestOf = (candidates: readonly Candidate[], answered: readonly Candidate[]): Candidate[] =>
  candidates.filter(
    (candidate) => !answered.some((other) => isNewer(other.standing, candidate.standing)),
  )

const NONE = 'none can be used'
const STOP_ONE = 'stop the one that is not the primary, or remove it from the URL'

/** Returns the host to use, or the reason that none is. `isComplete`: every host has answered. */
export type ChooseHost = (
  candidates: readonly Candidate[],
  memory: Memory,
  isComplete: boolean,
) => Candidate | string

/** The host to write to: the newest history wins, and two that cannot be ordered are refused. */
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
    return `two servers accept writes, and ${namesOf([first])}, the newer, lacks some of ${namesOf([rival])}; ${STOP_ONE}`
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

/**
 * Asks all hosts, and chooses one. Closes every other connection. Resolves to the answers, the reasons of the other hosts,
 * and the answer of the host to use, or the reason that none is.
 */
export async function survey(
  target: PostgresTarget,
  choose: ChooseHost,
  stopSignal: AbortSignal,
  context: ConnectContext,
) {
  const { last, isContested, log } = context
  const answers: Answer[] = []
  const failures = new Map<Host, string>()
  const usable = Promise.withResolvers<void>()
  const startingUntil = performance.now() + (last ? 0 : LACKING_MS)
  let isOver = false

  async function answerOf(host: Host): Promise<void> {
    const connection = await connectTo(host, target, stopSignal)
    const { standing } = connection
    const isOlder = last !== null && isNewer(last.standing, standing)
    const hasAll = !isOlder && (await context.hasAll(connection))
    if (isOver) return connection.close()
    const answer = { host, connection, standing, hasAll }
    answers.push(answer)
    const isUsable = last && hasAll && choose([answer], context, false) === answer
    if (isUsable && !isContested) setTimeout(usable.resolve, GRACE_MS)
  }

  // A first connect has no memory: a server that is still starting up may be the primary.
  async function ask(host: Host): Promise<void> {
    for (let pause = 0; ; pause = STARTING_PAUSE_MS) {
      await Bun.sleep(pause)
      try {
        return await answerOf(host)
      } catch (error) {
        const reason = await explainFailedConnection(error, host, target)
        const isAwaited =
          isStarting(error) && target.hosts.length > 1 && !isOver && !stopSignal.aborted
        if (!isAwaited || performance.now() >= startingUntil) {
          failures.set(host, reason)
          return
        }
        const detail = `${reason}; waiting up to ${LACKING_MS / 1000} s, as it may be the primary`
        if (pause === 0) log('warn', 'server-starting', { host: addressOf(host), detail })
      }
    }
  }

  await Promise.race([Promise.all(target.hosts.map(ask)), usable.promise])
  isOver = true
  const inOrder = target.hosts.flatMap((host) => answers.filter((answer) => answer.host === host))
  const choice = choose(inOrder, context, answers.length === target.hosts.length)
  const chosen = answers.find((answer) => answer === choice)
  for (const answer of answers) if (answer !== chosen) answer.connection.close().catch(() => {})
  stopSignal.throwIfAborted()
  const unused = chosen?.standing.isWritable
    ? answers.filter((answer) => answer.standing.isWritable && !isSameServer(answer, chosen))
    : []
  for (const { host } of unused) context.onUnusedPrimary(host)
  return { answers, failures, choice: chosen ?? String(choice) }
}

/**
 * Connects to all hosts, and keeps the connection to the one to use. Rejects with an `OpenError` that lists each host's
 * problem. Once `stopSignal` is aborted, closes the connections and rejects with the reason.
 */
export async function connect(
  target: PostgresTarget,
  choose = chooseHost,
  stopSignal: AbortSignal = new AbortController().signal,
  context = NEW_CONTEXT,
): Promise<Connection> {
  stopSignal.throwIfAborted()
  const { failures, choice } = await survey(target, choose, stopSignal, context)
  if (typeof choice === 'string') throw refusalOf(target, failures, choice)
  const used = addressOf(choice.host)
  for (const [host, reason] of context.last ? [] : failures) {
    const detail = `${reason}; ${used} is used, and may be an old primary`
    context.log('warn', 'server-silent', { host: addressOf(host), detail })
  }
  return choice.connection
}

function refusalOf(
  { hosts }: PostgresTarget,
  failures: ReadonlyMap<Host, string>,
  choice: string,
): OpenError {
  const reasons = hosts.flatMap((host) => {
    const reason = failures.get(host) ?? (choice === NONE ? 'read-only, like a standby' : null)
    return reason === null ? [] : [`${addressOf(host)}: ${reason}`]
  })
  if (choice !== NONE) return new OpenError([choice, ...reasons].join('; '))
  return new OpenError(`cannot connect to PostgreSQL at ${reasons.join('; ')}`)
}
