// Decides whether a history is linearizable: whether there is one order of all its operations that explains every
// answer, in which each operation takes effect between its call and its end.
//
// It is exact: it follows every state that the store may be in. At each end of an operation it tries every order of
// those under way that could have gone before it ("just in time linearization", Gavin Lowe, Testing for
// linearizability, 2017). Plants that no batch under way joins are followed apart, which keeps the states few.
//
// An operation without an answer takes effect once until its process has ended, or never; one that was refused never.
//
// Not covered: a 409 to a batch counts for the plant that it names alone, not for those before it in the batch.
import { idsOf, type Operation } from './history.ts'
import { createLabels, type Fields, type Plants, type Step, stepOf } from './linear-steps.ts'

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
  | { is: 'linearizable'; states: number }
  | { is: 'violated'; operation: Operation; possible: Fields[][] }
  | { is: 'undecided'; operation: Operation; states: number }

/** Thrown when more states have been looked at than the checker has time for. */
class TooManyStates extends Error {}

const createBudget = (states: number) => ({
  spent: 0,
  spend(more: number): void {
    this.spent += more
    if (this.spent > states) throw new TooManyStates()
  },
})

type Budget = ReturnType<typeof createBudget>

const keyOf = (ids: number[], plants: Plants, done: Step[]): string =>
  JSON.stringify([
    ids.map((id) => plants.get(id)),
    done.map(({ operation }) => operation.called).sort((a, b) => a - b),
  ])

/** Distinct states; of two that differ in optional operations alone, only one that has spent fewer of them. */
function createStateSet({ ids }: Pick<Group, 'ids'>, budget: Budget) {
  const states = new Map<string, State[]>()
  return {
    /** True if it allows anything new. */
    add(state: State): boolean {
      const certain = [...state.done].filter(({ isOptional }) => !isOptional)
      const key = keyOf(ids, state.plants, certain)
      const alike = states.get(key) ?? []
      if (alike.some(({ done }) => done.isSubsetOf(state.done))) return false
      const kept = alike.filter(({ done }) => !state.done.isSubsetOf(done))
      states.set(key, [...kept, state])
      budget.spend(1 + alike.length)
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
  const seen = [...pending].filter((it) => it.effect === null && it.allows(plants))
  return { plants, done: seen.length === 0 ? done : new Set([...done, ...seen]) }
}

function take({ plants, done }: State, step: Step, pending: Iterable<Step>): State {
  const after = {
    plants: new Map([...plants, ...step.writes(plants)]),
    done: new Set([...done, step]),
  }
  return observe(after, pending)
}

/**
 * The operations that could have to go before this one: those of its plants, and of plants that batches join to them.
 */
function relevantTo(step: Step, pending: Iterable<Step>): Step[] {
  const ids = new Set(step.ids)
  const writers = [...pending].filter((it) => it.effect !== null)
  for (let size = 0; size !== ids.size; ) {
    size = ids.size
    for (const it of writers) {
      if (it.ids.some((id) => ids.has(id))) for (const id of it.ids) ids.add(id)
    }
  }
  return writers.filter((it) => it.ids.some((id) => ids.has(id)))
}

/** For each operation that may never have taken effect, the one before it that would do the same: it goes first. */
function earlierTwins(steps: Step[]): Map<Step, Step> {
  const twins = new Map<Step, Step>()
  const last = new Map<string, Step>()
  for (const step of steps.filter(({ isOptional }) => isOptional)) {
    const key = step.effect ?? ''
    const earlier = last.get(key)
    if (earlier && earlier.operation.ended <= step.operation.ended) twins.set(step, earlier)
    last.set(key, step)
  }
  return twins
}

const spentIn = (done: ReadonlySet<Step>) => [...done].filter(({ isOptional }) => isOptional).length

/** Every state in which an operation that ends now has taken effect. */
function completed(group: Group, step: Step, budget: Budget, mostSpent: number): State[] {
  const relevant = relevantTo(step, group.pending)
  const twins = earlierTwins(relevant)
  const isWorthwhile = ({ done }: State, it: Step) => {
    const twin = twins.get(it)
    return (!twin || done.has(twin)) && spentIn(done) < mostSpent
  }
  const results = createStateSet(group, budget)
  const seen = createStateSet(group, budget)
  const open = [...group.states]
  if (step.isOptional) for (const state of open) results.add(without(state, step))
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    if (state.done.has(step)) {
      results.add(without(state, step))
      continue
    }
    for (const it of relevant) {
      if (state.done.has(it) || !it.allows(state.plants)) continue
      if (it.isOptional && !isWorthwhile(state, it)) continue
      const next = take(state, it, group.pending)
      if (seen.add(next)) open.push(next)
    }
  }
  return results.values()
}

function merge(groups: Group[], budget: Budget): Group {
  return groups.reduce((one, other) => {
    const ids = [...one.ids, ...other.ids].sort((a, b) => a - b)
    budget.spend(one.states.length * other.states.length)
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

/** Decides about a history that began with no plants; undecided where it takes more states than this. */
export function checkHistory(operations: Operation[], mostStates = 1_000_000): Verdict {
  // Most histories are explained by few of the operations without an answer, and that is found out soon.
  for (const mostSpent of [0, 1, 3]) {
    const verdict = follow(operations, mostStates, mostSpent)
    if (verdict.is === 'linearizable') return verdict
  }
  return follow(operations, mostStates, Infinity)
}

/** `mostSpent`: operations without an answer that may have taken effect while they are under way, group by group. */
function follow(operations: Operation[], mostStates: number, mostSpent: number): Verdict {
  const budget = createBudget(mostStates)
  const groups = new Map<number, Group>()
  for (const id of operations.flatMap(({ request }) => idsOf(request))) {
    const states = [{ plants: new Map([[id, null]]), done: new Set<Step>() }]
    groups.set(id, { ids: [id], pending: new Set(), states })
  }
  const place = (group: Group) => {
    for (const id of group.ids) groups.set(id, group)
  }

  function call(step: Step): undefined {
    const [first, ...others] = new Set(step.ids.flatMap((id) => groups.get(id) ?? []))
    if (first === undefined) return
    const group = others.length === 0 ? first : merge([first, ...others], budget)
    group.pending.add(step)
    group.states = group.states.map((state) => observe(state, [step]))
    place(group)
  }

  function end(step: Step): Fields[][] | undefined {
    const group = groups.get(step.ids[0] ?? 0)
    if (group === undefined) return undefined
    const states = completed(group, step, budget, mostSpent)
    if (states.length === 0) return project(group, step.ids).states.map(fieldsOf(step.ids))
    group.pending.delete(step)
    for (const part of split({ ...group, states })) place(part)
    return undefined
  }

  const label = createLabels(operations)
  const events = operations.flatMap((operation) => {
    const step = stepOf(operation, label)
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
      return { is: 'undecided', operation, states: mostStates }
    }
  }
  return { is: 'linearizable', states: budget.spent }
}

const fieldsOf = (ids: number[]) => (state: State) => ids.map((id) => state.plants.get(id) ?? null)

const distinct = (states: Fields[][]): Fields[][] => [
  ...new Map(states.map((state) => [JSON.stringify(state), state])).values(),
]
