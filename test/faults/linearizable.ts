// Decides whether a history is linearizable: whether there is one order of all its operations that explains every
// answer, in which each operation takes effect between its call and its end.
//
// It is exact: it follows every state that the store may be in. At each end of an operation it tries every order of
// those under way that could have gone before it ("just in time linearization", Gavin Lowe, Testing for
// linearizability, 2017). Plants that no batch under way joins are followed apart, which keeps the states few.
//
// What it cannot see: a 409 to a batch counts for the plant that it names alone, not for those before it in the batch.
import { idsOf, type Operation, show } from './history.ts'

type Fields = string | null

/** What an operation requires of the plants, and what it makes of them. */
interface Step {
  operation: Operation
  ids: number[]
  allows: (plants: Plants) => boolean
  /** The plants that it writes; none for an operation that only shows what was there. */
  writes: [id: number, fields: Fields][]
  /** It may also never have taken effect. */
  isOptional: boolean
}

type Plants = ReadonlyMap<number, Fields>

/** A state that the store may be in, and which of the operations under way have taken effect in it. */
interface State {
  plants: Plants
  done: ReadonlySet<Step>
}

/** Plants that must be followed together, and their operations under way. */
interface Group {
  ids: number[]
  pending: Set<Step>
  states: State[]
}

export type Verdict =
  | { is: 'linearizable'; mostStates: number }
  | { is: 'violated'; operation: Operation; possible: Fields[][] }
  | { is: 'undecided'; operation: Operation; states: number }

function stepOf(operation: Operation): Step | null {
  const { request, outcome } = operation
  const ids = idsOf(request)
  const step = (allows: Step['allows'], writes: Step['writes'] = []): Step => ({
    operation,
    ids,
    allows,
    writes,
    isOptional: outcome.is === 'unknown',
  })
  const [id = 0] = ids
  switch (outcome.is) {
    case 'refused':
      return null
    case 'absent':
      return step((plants) => plants.get(id) === null)
    case 'exists': {
      const { id: taken, same } = outcome
      const sent = request.kind === 'batch' ? request.plants : [request]
      const plant = sent.find((it) => it.id === taken)
      const fields = plant && 'fields' in plant ? plant.fields : undefined
      const allows = (plants: Plants) =>
        plants.get(taken) !== null && (plants.get(taken) === fields) === same
      return { ...step(allows), ids: [taken] }
    }
  }
  switch (request.kind) {
    case 'read':
      // Without an answer it has shown nothing.
      return outcome.is === 'unknown'
        ? null
        : step((plants) => plants.get(id) === (outcome.fields ?? null))
    case 'create':
      return step((plants) => plants.get(id) === null, [[id, request.fields]])
    case 'replace':
      return step((plants) => plants.get(id) !== null, [[id, request.fields]])
    case 'delete':
      return step((plants) => plants.get(id) !== null, [[id, null]])
    case 'batch':
      return step(
        (plants) => ids.every((it) => plants.get(it) === null),
        request.plants.map((plant) => [plant.id, plant.fields]),
      )
  }
}

class TooManyStates extends Error {}

const keyOf = (ids: number[], plants: Plants, done: Step[]): string =>
  JSON.stringify([
    ids.map((id) => plants.get(id)),
    done.map(({ operation }) => operation.called).sort((a, b) => a - b),
  ])

/**
 * States without those that allow nothing which another does not: one that has spent fewer of the operations that may
 * never take effect is worth more. Throws where there are more than the limit.
 */
function createStateSet({ ids }: Pick<Group, 'ids'>, limit: number) {
  const states = new Map<string, State[]>()
  let size = 0
  return {
    /** Whether it allows anything new. */
    add(state: State): boolean {
      const certain = [...state.done].filter(({ isOptional }) => !isOptional)
      const key = keyOf(ids, state.plants, certain)
      const alike = states.get(key) ?? []
      if (alike.some(({ done }) => done.isSubsetOf(state.done))) return false
      const kept = alike.filter(({ done }) => !state.done.isSubsetOf(done))
      states.set(key, [...kept, state])
      size += 1 + kept.length - alike.length
      if (size > limit) throw new TooManyStates()
      return true
    },
    values: (): State[] => [...states.values()].flat(),
  }
}

const without = ({ plants, done }: State, step: Step): State => {
  const rest = new Set(done)
  rest.delete(step)
  return { plants, done: rest }
}

/** Lets the operations that only show something take effect as soon as they can: that excludes nothing. */
function observe({ plants, done }: State, pending: Iterable<Step>): State {
  const seen = [...pending].filter((it) => it.writes.length === 0 && it.allows(plants))
  return { plants, done: seen.length === 0 ? done : new Set([...done, ...seen]) }
}

function take({ plants, done }: State, step: Step, pending: Iterable<Step>): State {
  const after = { plants: new Map([...plants, ...step.writes]), done: new Set([...done, step]) }
  return observe(after, pending)
}

/** The operations that could have to go before this one: those of its plants, and of plants that batches join to them. */
function relevantTo(step: Step, pending: Iterable<Step>): Step[] {
  const ids = new Set(step.ids)
  const writers = [...pending].filter((it) => it.writes.length > 0)
  for (let size = 0; size !== ids.size; ) {
    size = ids.size
    for (const it of writers) {
      if (it.ids.some((id) => ids.has(id))) for (const id of it.ids) ids.add(id)
    }
  }
  return writers.filter((it) => it.ids.some((id) => ids.has(id)))
}

/** Every state in which an operation that ends now has taken effect. */
function completed(group: Group, step: Step, limit: number): State[] {
  const relevant = relevantTo(step, group.pending)
  const results = createStateSet(group, limit)
  const seen = createStateSet(group, limit)
  const open = [...group.states]
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    if (state.done.has(step)) {
      results.add(without(state, step))
      continue
    }
    if (step.isOptional) results.add(state)
    for (const it of relevant) {
      if (state.done.has(it) || !it.allows(state.plants)) continue
      const next = take(state, it, group.pending)
      if (seen.add(next)) open.push(next)
    }
  }
  return results.values()
}

function merge(groups: Group[], limit: number): Group {
  return groups.reduce((one, other) => {
    const ids = [...one.ids, ...other.ids].sort((a, b) => a - b)
    if (one.states.length * other.states.length > limit) throw new TooManyStates()
    const states = one.states.flatMap((a) =>
      other.states.map((b) => ({
        plants: new Map([...a.plants, ...b.plants]),
        done: new Set([...a.done, ...b.done]),
      })),
    )
    return { ids, states, pending: new Set([...one.pending, ...other.pending]) }
  })
}

/** A group as it is without the other plants. */
function project(group: Group, ids: number[]): Group {
  const isOurs = (step: Step) => step.ids.some((id) => ids.includes(id))
  const states = new Map<string, State>()
  for (const state of group.states) {
    const plants = new Map(ids.map((id) => [id, state.plants.get(id) ?? null]))
    const done = [...state.done].filter(isOurs)
    states.set(keyOf(ids, plants, done), { plants, done: new Set(done) })
  }
  return { ids, pending: new Set([...group.pending].filter(isOurs)), states: [...states.values()] }
}

/** Sets each plant apart whose state says nothing about that of the others. */
function split(group: Group): Group[] {
  const joined = new Set(
    [...group.pending].filter(({ ids }) => ids.length > 1).flatMap(({ ids }) => ids),
  )
  const apart: Group[] = []
  let rest = group
  for (const id of group.ids) {
    if (rest.ids.length === 1 || joined.has(id)) continue
    const one = project(rest, [id])
    const others = project(
      rest,
      rest.ids.filter((it) => it !== id),
    )
    if (one.states.length * others.states.length !== rest.states.length) continue
    apart.push(one)
    rest = others
  }
  return [...apart, rest]
}

/** Decides about a history that began with no plants. More states than the limit at a time: undecided. */
export function checkHistory(operations: Operation[], limit = 200_000): Verdict {
  const groups = new Map<number, Group>()
  for (const id of operations.flatMap(({ request }) => idsOf(request))) {
    const states = [{ plants: new Map([[id, null]]), done: new Set<Step>() }]
    groups.set(id, { ids: [id], pending: new Set(), states })
  }
  const place = (group: Group) => {
    for (const id of group.ids) groups.set(id, group)
  }
  let mostStates = 1

  function call(step: Step): undefined {
    const [first, ...others] = new Set(step.ids.flatMap((id) => groups.get(id) ?? []))
    if (first === undefined) return
    const group = others.length === 0 ? first : merge([first, ...others], limit)
    group.pending.add(step)
    group.states = group.states.map((state) => observe(state, [step]))
    place(group)
  }

  function end(step: Step): Fields[][] | undefined {
    const group = groups.get(step.ids[0] ?? 0)
    if (group === undefined) return undefined
    const states = completed(group, step, limit)
    if (states.length === 0) return project(group, step.ids).states.map(fieldsOf(step.ids))
    mostStates = Math.max(mostStates, states.length)
    group.pending.delete(step)
    for (const part of split({ ...group, states })) place(part)
    return undefined
  }

  const events = operations.flatMap((operation) => {
    const step = stepOf(operation)
    if (step === null) return []
    const ends = operation.ended === Infinity ? [] : [{ at: operation.ended, step, act: end }]
    return [{ at: operation.called, step, act: call }, ...ends]
  })
  events.sort((a, b) => a.at - b.at)
  for (const { step, act } of events) {
    const { operation } = step
    try {
      const possible = act(step)
      if (possible) return { is: 'violated', operation, possible: distinct(possible) }
    } catch (error) {
      if (!(error instanceof TooManyStates)) throw error
      return { is: 'undecided', operation, states: limit }
    }
  }
  return { is: 'linearizable', mostStates }
}

const fieldsOf = (ids: number[]) => (state: State) => ids.map((id) => state.plants.get(id) ?? null)

const distinct = (states: Fields[][]): Fields[][] => [
  ...new Map(states.map((state) => [JSON.stringify(state), state])).values(),
]

const isRefused = ({ outcome }: Operation) => outcome.is === 'refused'
const duration = ({ called, ended }: Operation) => ended - called

/** Those of a plant's operations that are likely to matter: the last that were answered, the slowest that were refused. */
function leadingTo(operation: Operation, operations: Operation[]): Operation[] {
  const ids = new Set(idsOf(operation.request))
  const earlier = operations
    .filter((it) => it !== operation && it.called < operation.ended)
    .filter(({ request }) => idsOf(request).some((id) => ids.has(id)))
    .sort((a, b) => a.ended - b.ended)
  const answered = earlier.filter((it) => !isRefused(it)).slice(-8)
  const refused = earlier.filter(isRefused).sort((a, b) => duration(b) - duration(a))
  return [...answered, ...refused.slice(0, 8)].sort((a, b) => a.ended - b.ended)
}

/** Null for a history that is linearizable, else what is wrong with it, and the operations that led there. */
export function explainVerdict(verdict: Verdict, operations: Operation[]): string | null {
  if (verdict.is === 'linearizable') return null
  const { operation } = verdict
  if (verdict.is === 'undecided') {
    return `undecided: over ${verdict.states} possible states at ${show(operation)}`
  }
  const states = verdict.possible
    .slice(0, 5)
    .map((state) => state.map((fields) => fields ?? 'absent').join(', '))
  return [
    `no order explains ${show(operation)}`,
    `before its end the store could only hold: ${states.join(' or ')}`,
    'what was asked of these plants before:',
    ...leadingTo(operation, operations).map(show),
  ].join('\n    ')
}
