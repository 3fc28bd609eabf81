// The table of transitions, tried whole: every sequence of up to six events.
import { expect, test } from 'bun:test'
import {
  attemptOf,
  CAUSES,
  type Causes,
  refusalOf,
  type StorageEvent,
  type StorageFailure,
  StorageState,
  stateOf,
  transition,
} from '../../src/engine/storage-state'
import { RequestError } from '../../src/errors'
import { until } from '../harness/until'

const failure = (kind: StorageFailure['kind']): StorageFailure => ({ kind, detail: kind })

const EVENTS: readonly StorageEvent[] = [
  { source: 'commit', failure: failure('failed') },
  { source: 'doubt', failure: failure('failed') },
  { source: 'commit', failure: failure('full') },
  { source: 'commit', failure: failure('busy') },
  { source: 'commit', failure: failure('altered') },
  { source: 'read', failure: failure('damaged') },
  { source: 'trial', failure: failure('failed') },
  { source: 'checkpoint', failure: failure('full') },
  { source: 'stall', failure: failure('failed') },
  { source: 'tables', failure: failure('altered') },
  { source: 'read', failure: { ...failure('barred'), sqlstate: '42501' } },
  'reopened',
  'unlocked',
  'tried',
  'safe',
]
const LENGTH = 6

/** The successes that follow an attempt whose cause is gone. */
const SUCCEEDS = { reopen: ['reopened', 'tried'], lock: ['unlocked'], trial: ['tried'] } as const
/** The successes that nobody has to ask for: the disk answers, a checkpoint is tried again, a check or a look ends. */
const BY_THEMSELVES = ['answered', 'checkpointed', 'whole', 'safe'] as const

/** The name of a set of causes. */
const nameOf = (causes: Causes): string =>
  CAUSES.flatMap((cause) => {
    const begun = causes[cause]
    return begun ? `${cause} ${begun.failure.kind}` : []
  }).join()

function heal(causes: Causes): Causes {
  let healed = BY_THEMSELVES.reduce((states, event) => transition(states, event, 0), causes)
  for (let tries = 0; tries < CAUSES.length; tries++) {
    const attempt = attemptOf(healed)
    if (!attempt) break
    for (const event of SUCCEEDS[attempt]) healed = transition(healed, event, 0)
  }
  return healed
}

/**
 * The causes after every sequence of up to `length` events, by their name. Sequences that lead to the same causes go on
 * alike, and are followed once.
 */
function reachedBy(length: number): ReadonlyMap<string, Causes> {
  const reached = new Map<string, Causes>([['', {}]])
  let last: readonly Causes[] = [{}]
  for (let n = 0; n < length; n++) {
    const next = new Map<string, Causes>()
    for (const causes of last) {
      for (const event of EVENTS) {
        const after = transition(causes, event, 0)
        if (!reached.has(nameOf(after))) next.set(nameOf(after), after)
      }
    }
    for (const [name, causes] of next) reached.set(name, causes)
    last = [...next.values()]
  }
  return reached
}

const reached = reachedBy(LENGTH)

test('sequences of six events reach every state', () => {
  const states = new Set([...reached.values()].map(stateOf))
  expect([...states].sort()).toEqual([
    'damaged',
    'failing',
    'full',
    'in doubt',
    'locked',
    'refused',
    'stalled',
    'unsafe',
    'writable',
  ])
})

test('nothing is read or written while a commit is in doubt, or the storage fails', () => {
  for (const causes of reached.values()) {
    if (!['in doubt', 'failing'].includes(stateOf(causes))) continue
    expect(refusalOf(causes, 'read')).not.toBeNull()
    expect(refusalOf(causes, 'trial')).not.toBeNull()
    expect(refusalOf(causes, 'write')).not.toBeNull()
  }
})

test('no write is sent to altered tables; in any other outage, writes may queue', () => {
  for (const causes of reached.values()) {
    const isUnsafe = causes.unsafe !== undefined
    expect(refusalOf(causes, 'queuedWrite')).toBe(isUnsafe ? 'unsafe' : null)
    if (isUnsafe) expect(refusalOf(causes, 'write')).not.toBeNull()
  }
})

test('health is good only where no request is refused untried', () => {
  for (const causes of reached.values()) {
    const isWell = ['writable', 'damaged'].includes(stateOf(causes))
    if (!isWell) continue
    expect(refusalOf(causes, 'write')).toBeNull()
    expect(refusalOf(causes, 'queuedWrite')).toBeNull()
    expect(refusalOf(causes, 'read')).toBeNull()
  }
})

test('every state heals once its cause is gone', () => {
  for (const causes of reached.values()) expect(stateOf(heal(causes))).toBe('writable')
})

test('damage and a refusal are not forgotten when the storage is read from the disk again', () => {
  for (const causes of reached.values()) {
    const reopened = transition(causes, 'reopened', 0)
    expect(reopened.damaged).toEqual(causes.damaged)
    expect(reopened.refused).toEqual(causes.refused)
  }
})

/** Reports every sequence of up to four events to a state of its own. */
function forEachReported(
  see: (state: StorageState, causes: Causes, log: readonly string[], changes: string[]) => void,
): void {
  const report = (events: readonly StorageEvent[]) => {
    const log: string[] = []
    const state = new StorageState({
      log: (_, name) => log.push(name),
      toError: ({ detail }) => new RequestError('cannot write', detail),
      storage: 'the disk',
      stalledMs: 10_000,
      now: () => 0,
    })
    const changes: string[] = []
    let causes: Causes = {}
    for (const event of events) {
      state.report(event)
      const next = transition(causes, event, 0)
      for (const cause of CAUSES) {
        if (next[cause] && !causes[cause]) changes.push(`${cause} begins`)
        if (!next[cause] && causes[cause]) changes.push(`${cause} ends`)
      }
      causes = next
    }
    see(state, causes, log, changes)
    if (events.length < 4) for (const event of EVENTS) report([...events, event])
  }
  report([])
}

test('requests, health and the log read the same state', () => {
  const logged = [
    ['failing begins', 'storage-failed'],
    ['failing ends', 'storage-recovered'],
    ['stalled begins', 'disk-stalled'],
    ['locked begins', 'database-locked'],
    ['locked ends', 'database-unlocked'],
    ['checkpoint begins', 'checkpoint-failed'],
    ['checkpoint ends', 'checkpoint-recovered'],
    ['damaged begins', 'database-damaged'],
  ] as const
  const wrong: unknown[] = []
  forEachReported((state, causes, log, changes) => {
    const isWell = ['writable', 'damaged'].includes(state.state)
    if ((state.problem() === null) !== isWell) wrong.push(['health', nameOf(causes)])
    for (const act of ['read', 'trial', 'write', 'queuedWrite'] as const) {
      const isRefused = state.refusal(act) !== null
      if (isRefused !== (refusalOf(causes, act) !== null)) wrong.push([act, nameOf(causes)])
    }
    const count = (list: readonly string[], it: string) => list.filter((one) => one === it).length
    for (const [change, event] of logged) {
      if (count(log, event) !== count(changes, change)) wrong.push([change, log])
    }
    // These go on for long, and are logged at most once a minute.
    // A server's refusal is one more, by its SQLSTATE.
    if (count(log, 'disk-full') > 1 || count(log, 'cannot-write') > 2) wrong.push(log)
  })
  expect(wrong).toEqual([])
})

test('a write that is not answered stalls the storage, until it is', async () => {
  const log: string[] = []
  const state = new StorageState({
    log: (_, name) => log.push(name),
    toError: ({ detail }) => new RequestError('cannot write', detail),
    storage: 'the disk',
    stalledMs: 100,
  })
  state.beginWrite()
  // The one behind it does not make the first one younger.
  await Bun.sleep(60)
  state.beginWrite()
  expect(state.problem()).toBeNull()
  await until('the stall', () => state.state === 'stalled', 5000)
  expect(state.problem()?.message).toBe('the disk has confirmed no write for 0 s')
  expect(state.refusal('write')).toBeNull()
  state.endWrite()
  expect(state.state).toBe('writable')
  state.endWrite()
  await Bun.sleep(150)
  expect(log).toEqual(['disk-stalled', 'disk-resumed'])
  state.close()
})
