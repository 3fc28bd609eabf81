// The checker of the linearizability faults, on random histories.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  type Counts,
  idsOf,
  joinFields,
  type Left,
  type Operation,
  type Outcome,
  type Request,
  splitFields,
  startHistory,
} from './history'
import { explainVerdict } from './linear-report'
import { checkHistory } from './linearizable'

const done: Outcome = { is: 'done' }
const absent: Outcome = { is: 'absent' }
const unknown: Outcome = { is: 'unknown' }
const mismatch: Outcome = { is: 'mismatch' }
const refused: Outcome = { is: 'refused', error: 50302 }
const exists = (same: boolean, id: number): Outcome => ({ is: 'exists', id, same })
const found = (fields: string): Outcome => ({ is: 'done', fields })

test('a history with too many possible states is undecided', () => {
  const history = startHistory()
  const plants = [{ id: 1, fields: 'a' }]
  history.answer(history.call(0, { kind: 'create', plants }), done)
  const called = Array.from({ length: 8 }, (_, client) =>
    history.call(client, { kind: 'replace', id: 1, fields: `${client}` }),
  )
  for (const operation of called) history.answer(operation, done)
  const { operations } = history

  expect(checkHistory(operations).is).toBe('linearizable')
  expect(checkHistory(operations, 100).is).toBe('undecided')
  expect(explainVerdict(checkHistory(operations, 100), operations)).toContain('undecided')
})

/** The outcome of a request to a store, which it updates. */
function perform(request: Request, plants: Map<number, string>): Outcome {
  switch (request.kind) {
    case 'create': {
      const taken = request.plants.find(({ id }) => plants.has(id))
      if (taken) return exists(plants.get(taken.id) === taken.fields, taken.id)
      for (const { id, fields } of request.plants) plants.set(id, fields)
      return done
    }
    case 'put': {
      const counts: Counts = { created: 0, replaced: 0, unchanged: 0 }
      for (const { id, fields } of request.plants) {
        const before = plants.get(id)
        counts[before === undefined ? 'created' : before === fields ? 'unchanged' : 'replaced'] += 1
        plants.set(id, fields)
      }
      return { is: 'done', counts }
    }
    case 'swapAll': {
      const left: Left = { conflicts: [], missing: [] }
      for (const { id, expected, fields } of request.plants) {
        const before = plants.get(id)
        if (before === undefined) left.missing.push(id)
        else if (before !== expected) left.conflicts.push(id)
        else if (fields === null) plants.delete(id)
        else plants.set(id, fields)
      }
      return { is: 'done', left }
    }
    case 'replace':
      if (!plants.has(request.id)) return absent
      plants.set(request.id, request.fields)
      return done
    case 'swap': {
      const before = plants.get(request.id)
      if (before === undefined) return absent
      if (before !== request.expected) return mismatch
      plants.set(request.id, request.fields)
      return done
    }
    case 'patch': {
      const before = plants.get(request.id)
      if (before === undefined) return absent
      const after = joinFields(splitFields(before)[0], request.tag)
      plants.set(request.id, after)
      return found(after)
    }
    case 'delete':
      return plants.delete(request.id) ? done : absent
    case 'read': {
      const fields = plants.get(request.id)
      return fields === undefined ? absent : found(fields)
    }
  }
}

/** True if an operation has the outcome that the store would return. */
function isShown({ request, outcome }: Operation, expected: Outcome, plants: Map<number, string>) {
  if (outcome.is !== 'exists' || request.kind !== 'create') return Bun.deepEquals(outcome, expected)
  // Of those that are taken, the checker lets a batch name any.
  const sent = request.plants.find((plant) => plant.id === outcome.id)
  return plants.has(outcome.id) && (plants.get(outcome.id) === sent?.fields) === outcome.same
}

/** The plain way to decide: every order is tried. */
function someOrderExplains(operations: Operation[], plants = new Map<number, string>()): boolean {
  const left = operations.filter(({ outcome }) => outcome.is !== 'refused')
  if (left.every(({ outcome }) => outcome.is === 'unknown')) return true
  const firstEnd = Math.min(...left.map(({ ended }) => ended))
  return left.some((operation) => {
    if (operation.called > firstEnd) return false
    const rest = left.filter((it) => it !== operation)
    const isUnknown = operation.outcome.is === 'unknown'
    if (isUnknown && someOrderExplains(rest, plants)) return true
    const after = new Map(plants)
    const expected = perform(operation.request, after)
    return (isUnknown || isShown(operation, expected, plants)) && someOrderExplains(rest, after)
  })
}

const id = fc.integer({ min: 1, max: 3 })
const fields = fc.constantFrom('a', 'b')
const mixed = fc.constantFrom('a', 'b', 'a with b')
const somePlants = <T extends object>(of: { [Key in keyof T]: fc.Arbitrary<T[Key]> }) =>
  fc.uniqueArray(
    fc.tuple(id, fc.record(of)).map(([id, fields]) => ({ id, ...(fields as T) })),
    { minLength: 1, selector: (plant) => plant.id },
  )
const anyRequest: fc.Arbitrary<Request> = fc.oneof(
  fc.record({ kind: fc.constant('replace'), id, fields }),
  fc.record({ kind: fc.constantFrom('delete', 'read'), id }),
  fc.record({ kind: fc.constant('patch'), id, tag: fields }),
  fc.record({ kind: fc.constant('swap'), id, expected: mixed, entityTag: fc.constant(''), fields }),
  fc.tuple(fields, fc.shuffledSubarray([1, 2, 3], { minLength: 1 })).map(([fields, ids]) => ({
    kind: 'create' as const,
    plants: ids.map((id) => ({ id, fields })),
  })),
  fc.record({ kind: fc.constant('put'), plants: somePlants({ fields: mixed }) }),
  fc.record({ kind: fc.constant('swapAll'), plants: somePlants({ expected: mixed, fields }) }),
  fc.record({
    kind: fc.constant('swapAll'),
    plants: somePlants({ expected: mixed, fields: fc.constant(null) }),
  }),
)
// Positions of the call, the effect and the end of an operation.
const anyPlaces = fc.uniqueArray(fc.nat(1000), { minLength: 3, maxLength: 3 })
const anyFate = fc.constantFrom(
  'answered',
  'answered',
  'answered',
  'unknown',
  'refused',
  'never ends',
)
const anyHistory = fc
  .array(fc.tuple(anyRequest, anyPlaces, anyFate), { minLength: 2, maxLength: 7 })
  .map((calls): Operation[] => {
    const plants = new Map<number, string>()
    const sorted = calls.map(([request, places, fate], index) => ({
      request,
      fate,
      // No two at the same time.
      places: places.sort((a, b) => a - b).map((place) => place * calls.length + index),
    }))
    sorted.sort((a, b) => (a.places[1] ?? 0) - (b.places[1] ?? 0))
    return sorted.map(({ request, fate, places: [called = 0, , ended = 0] }, client) => {
      const expected = perform(request, plants)
      const outcome = fate === 'answered' ? expected : fate === 'refused' ? refused : unknown
      const end = fate === 'never ends' ? Infinity : ended
      return { client, request, outcome, called, ended: end }
    })
  })

/** Seldom linearizable: two operations of one kind on the same plants have each other's outcome. */
const anyWrongHistory = fc
  .tuple(anyHistory, fc.nat(6), fc.nat(6))
  .map(([operations, one, other]) => {
    const first = operations[one % operations.length]
    const second = operations[other % operations.length]
    if (!first || !second) return operations
    if ([first, second].some(({ outcome }) => outcome.is === 'unknown')) return operations
    if (`${idsOf(first.request)}` !== `${idsOf(second.request)}`) return operations
    if (first.request.kind !== second.request.kind) return operations
    return operations.map((it) => {
      if (it === first) return { ...it, outcome: second.outcome }
      return it === second ? { ...it, outcome: first.outcome } : it
    })
  })

test('the verdict is that of trying every order', () => {
  const verdicts = { linearizable: 0, violated: 0, undecided: 0 }
  fc.assert(
    fc.property(fc.oneof(anyHistory, anyWrongHistory), (operations) => {
      const { is } = checkHistory(operations)
      verdicts[is]++
      expect(is).toBe(someOrderExplains(operations) ? 'linearizable' : 'violated')
    }),
    { numRuns: 6000 },
  )
  // Both are tried often enough to mean something.
  expect(verdicts.linearizable).toBeGreaterThan(300)
  expect(verdicts.violated).toBeGreaterThan(300)
})
