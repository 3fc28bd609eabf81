// The checker of the linearizability faults, on short histories written by hand and on random ones.
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
const refused: Outcome = { is: 'refused', error: 50302 }
const exists = (same: boolean, id = 1): Outcome => ({ is: 'exists', id, same })
const found = (fields: string): Outcome => ({ is: 'done', fields })
const create = (fields: string, id = 1): Request => ({ kind: 'create', id, fields })
const replace = (fields: string, id = 1): Request => ({ kind: 'replace', id, fields })
const remove = (id = 1): Request => ({ kind: 'delete', id })
const read = (id = 1): Request => ({ kind: 'read', id })
const patch = (tag: string, id = 1): Request => ({ kind: 'patch', id, tag })
const swap = (expected: string, fields: string, id = 1): Request => ({
  kind: 'swap',
  id,
  expected,
  entityTag: '',
  fields,
})
const mismatch: Outcome = { is: 'mismatch' }
const batch = (fields: string, ...ids: number[]): Request => ({
  kind: 'batch',
  plants: ids.map((id) => ({ id, fields })),
})

const put = (...plants: [id: number, fields: string][]): Request => ({
  kind: 'put',
  plants: plants.map(([id, fields]) => ({ id, fields })),
})
const counted = (created: number, replaced: number, unchanged: number): Outcome => ({
  is: 'done',
  counts: { created, replaced, unchanged },
})

const deleteAll = (...plants: [id: number, fields: string][]): Request => ({
  kind: 'deleteAll',
  plants: plants.map(([id, fields]) => ({ id, fields })),
})
const patchAll = (...plants: [id: number, expected: string, fields: string][]): Request => ({
  kind: 'patchAll',
  plants: plants.map(([id, expected, fields]) => ({ id, expected, fields })),
})
const leaving = (conflicts: number[], missing: number[]): Outcome => ({
  is: 'done',
  left: { conflicts, missing },
})

/** Operations of which each ends before the next begins, but for those that share a list: these are all concurrent. */
function historyOf(...steps: ([Request, Outcome] | [Request, Outcome][] | 'end')[]): Operation[] {
  const history = startHistory()
  for (const step of steps) {
    if (step === 'end') {
      history.processEnded()
      continue
    }
    const together = (Array.isArray(step[0]) ? step : [step]) as [Request, Outcome][]
    const called = together.map(([request], client) => history.call(client, request))
    for (const [index, [, outcome]] of together.entries()) {
      const operation = called[index]
      if (operation) history.answer(operation, outcome)
    }
  }
  return history.operations
}

test.each([
  ['an empty history', historyOf()],
  [
    'one client after another',
    historyOf(
      [read(), absent],
      [create('a'), done],
      [create('a'), exists(true)],
      [create('b'), exists(false)],
      [replace('c'), done],
      [read(), found('c')],
      [remove(), done],
      [remove(), absent],
      [replace('d'), absent],
    ),
  ],
  [
    'concurrent changes whose order only a later read shows',
    historyOf(
      [create('a'), done],
      [
        [replace('b'), done],
        [replace('c'), done],
        [read(), found('a')],
      ],
      [read(), found('b')],
    ),
  ],
  [
    'two deletes that both succeed around a create',
    historyOf(
      [create('a'), done],
      [
        [remove(), done],
        [remove(), done],
        [create('b'), done],
      ],
      [read(), absent],
    ),
  ],
  [
    'a create without an answer that was made',
    historyOf([create('a'), unknown], [read(), found('a')]),
  ],
  ['a create without an answer that was not', historyOf([create('a'), unknown], [read(), absent])],
  [
    'a delete without an answer that is made late',
    historyOf([create('a'), done], [remove(), unknown], [read(), found('a')], [read(), absent]),
  ],
  [
    'a create that is sent again and found to exist',
    historyOf([create('a'), unknown], [create('a'), exists(true)], [read(), found('a')]),
  ],
  [
    'a batch, seen whole',
    historyOf([batch('a', 1, 2, 3), done], [read(1), found('a')], [read(3), found('a')]),
  ],
  [
    'a batch that is refused by one plant',
    historyOf([create('a', 2), done], [batch('b', 1, 2), exists(false, 2)], [read(1), absent]),
  ],
  [
    'a put of a new, a changed and an unchanged plant',
    historyOf(
      [batch('a', 1, 2), done],
      [patch('b', 2), found('a with b')],
      [put([1, 'c'], [2, 'a with b'], [3, 'c']), counted(1, 1, 1)],
      [read(1), found('c')],
      [read(2), found('a with b')],
    ),
  ],
  [
    'a put that is sent again and finds its plants unchanged',
    historyOf([put([1, 'a'], [2, 'b']), unknown], [put([1, 'a'], [2, 'b']), counted(0, 0, 2)]),
  ],
  [
    'a batch of deletes that finds a plant, another version and none',
    historyOf(
      [batch('a', 1, 2), done],
      [patch('b', 2), found('a with b')],
      [deleteAll([1, 'a'], [2, 'a'], [3, 'a']), leaving([2], [3])],
      [read(1), absent],
      [read(2), found('a with b')],
    ),
  ],
  [
    'a batch of deletes that is sent again and finds its plants gone',
    historyOf(
      [batch('a', 1, 2), done],
      [deleteAll([1, 'a'], [2, 'a']), unknown],
      [deleteAll([1, 'a'], [2, 'a']), leaving([], [1, 2])],
    ),
  ],
  [
    'a swap of what is there, and none of what is not',
    historyOf(
      [swap('a', 'b'), absent],
      [create('a'), done],
      [swap('b', 'c'), mismatch],
      [swap('a', 'b'), done],
      [swap('a', 'c'), mismatch],
      [read(), found('b')],
    ),
  ],
  [
    'one of two swaps of the same',
    historyOf(
      [create('a'), done],
      [
        [swap('a', 'b'), done],
        [swap('a', 'c'), mismatch],
      ],
      [read(), found('b')],
    ),
  ],
  [
    'a swap without an answer that is sent again and finds its own',
    historyOf([create('a'), done], [swap('a', 'b'), unknown], [swap('a', 'b'), mismatch]),
  ],
  [
    'patches, each of which leaves the name',
    historyOf(
      [patch('b'), absent],
      [create('a'), done],
      [patch('b'), found('a with b')],
      [read(), found('a with b')],
      [patch('c'), found('a with c')],
      [swap('a with c', 'd'), done],
      [patch('e'), unknown],
      [read(), found('d')],
      [read(), found('d with e')],
    ),
  ],
  [
    'two batches in either order',
    historyOf(
      [
        [batch('a', 1, 2), done],
        [remove(1), done],
        [remove(2), done],
        [batch('b', 2, 1), done],
      ],
      [read(1), found('a')],
      [read(2), found('a')],
    ),
  ],
])('accepts %s', (_, history) => {
  expect(explainVerdict(checkHistory(history), history)).toBeNull()
})

test.each([
  ['a stale read', historyOf([create('a'), done], [replace('b'), done], [read(), found('a')])],
  [
    'a read that goes back in time',
    historyOf(
      [create('a'), done],
      [
        [replace('b'), done],
        [replace('c'), done],
      ],
      [read(), found('b')],
      [read(), found('c')],
    ),
  ],
  ['a create that is lost', historyOf([create('a'), done], [read(), absent])],
  [
    'a replacement that is lost',
    historyOf(
      [create('a'), done],
      [replace('b'), done],
      [replace('c'), done],
      [read(), found('b')],
    ),
  ],
  [
    'a deleted plant that comes back',
    historyOf([create('a'), done], [remove(), done], [read(), found('a')]),
  ],
  ['a plant that nobody wrote', historyOf([create('a'), done], [read(), found('z')])],
  ['a refused create that was made', historyOf([create('a'), refused], [read(), found('a')])],
  [
    'a refused delete that was made',
    historyOf([create('a'), done], [remove(), refused], [read(), absent]),
  ],
  [
    'two deletes of one plant that both succeed',
    historyOf(
      [create('a'), done],
      [
        [remove(), done],
        [remove(), done],
      ],
    ),
  ],
  [
    'two creates of one id that both succeed',
    historyOf([
      [create('a'), done],
      [create('b'), done],
    ]),
  ],
  ['the wrong 409', historyOf([create('a'), done], [create('b'), exists(true)])],
  [
    'a change that is undone when the process ends',
    historyOf([create('a'), done], [replace('b'), unknown], [read(), found('b')], 'end', [
      read(),
      found('a'),
    ]),
  ],
  [
    'a change that is made after the process ended',
    historyOf([create('a'), unknown], 'end', [read(), absent], [read(), found('a')]),
  ],
  [
    'two swaps of the same that both succeed: a lost update',
    historyOf(
      [create('a'), done],
      [
        [swap('a', 'b'), done],
        [swap('a', 'c'), done],
      ],
    ),
  ],
  ['a swap of what is not there', historyOf([create('a'), done], [swap('b', 'c'), done])],
  [
    'a swap that is refused for what is there',
    historyOf([create('a'), done], [swap('a', 'b'), mismatch]),
  ],
  [
    'a refused swap that was made',
    historyOf([create('a'), done], [swap('b', 'c'), mismatch], [read(), found('c')]),
  ],
  [
    'a patch that brings an older name back',
    historyOf([create('a'), done], [replace('b'), done], [patch('c'), found('a with c')]),
  ],
  [
    'a patch that loses a name written beside it',
    historyOf(
      [create('a'), done],
      [
        [replace('b'), done],
        [patch('c'), found('a with c')],
      ],
      [read(), found('a with c')],
    ),
  ],
  [
    'a put that says of a plant that it is unchanged, which differs',
    historyOf([create('a'), done], [put([1, 'b'], [2, 'b']), counted(1, 0, 1)]),
  ],
  [
    'a put that says of a plant that it was new, which was there',
    historyOf([create('a'), done], [put([1, 'b'], [2, 'b']), counted(2, 0, 0)]),
  ],
  [
    'half a put',
    historyOf([put([1, 'a'], [2, 'a']), unknown], [read(1), found('a')], [read(2), absent]),
  ],
  [
    'a put that loses a tag written beside it',
    historyOf(
      [create('a'), done],
      [
        [put([1, 'a']), counted(0, 0, 1)],
        [patch('b'), found('a with b')],
      ],
      [read(), found('a')],
    ),
  ],
  [
    'a batch of patches of another version: a lost update',
    historyOf(
      [create('a'), done],
      [replace('b'), done],
      [patchAll([1, 'a', 'c']), leaving([], [])],
    ),
  ],
  [
    'half a batch of patches',
    historyOf(
      [batch('a', 1, 2), done],
      [patchAll([1, 'a', 'b'], [2, 'a', 'b']), unknown],
      [read(1), found('b')],
      [read(2), found('a')],
    ),
  ],
  [
    'a batch of deletes of another version',
    historyOf([create('a'), done], [replace('b'), done], [deleteAll([1, 'a']), leaving([], [])]),
  ],
  [
    'a batch of deletes that says of a plant that it is missing, which is there',
    historyOf([create('a'), done], [deleteAll([1, 'a']), leaving([], [1])]),
  ],
  [
    'half a batch of deletes',
    historyOf(
      [batch('a', 1, 2), done],
      [deleteAll([1, 'a'], [2, 'a']), unknown],
      [read(1), absent],
      [read(2), found('a')],
    ),
  ],
  ['half a batch', historyOf([batch('a', 1, 2), done], [read(1), found('a')], [read(2), absent])],
  [
    'half a batch that was refused',
    historyOf([batch('a', 1, 2), refused], [read(1), absent], [read(2), found('a')]),
  ],
  [
    'half a batch that had no answer',
    historyOf([batch('a', 1, 2), unknown], [read(1), found('a')], [read(2), absent]),
  ],
])('refuses %s', (_, history) => {
  const verdict = checkHistory(history)
  expect(verdict.is).toBe('violated')
  expect(explainVerdict(verdict, history)).toContain('no order explains')
})

test('refuses a batch that is seen half while it is under way', () => {
  const history = startHistory()
  const whole = history.call(0, batch('a', 1, 2))
  history.answer(history.call(1, read(1)), found('a'))
  history.answer(history.call(1, read(2)), absent)
  history.answer(whole, done)

  expect(checkHistory(history.operations).is).toBe('violated')
})

test('says that it cannot decide where too many states are possible', () => {
  const changes = Array.from({ length: 8 }, (_, n): [Request, Outcome] => [replace(`${n}`), done])
  const history = historyOf([create('a'), done], changes)

  expect(checkHistory(history).is).toBe('linearizable')
  expect(checkHistory(history, 100).is).toBe('undecided')
  expect(explainVerdict(checkHistory(history, 100), history)).toContain('undecided')
})

/** The outcome of a request to a store, which it updates. */
function perform(request: Request, plants: Map<number, string>): Outcome {
  switch (request.kind) {
    case 'create':
    case 'batch': {
      const sent = request.kind === 'batch' ? request.plants : [request]
      const taken = sent.find(({ id }) => plants.has(id))
      if (taken) return exists(plants.get(taken.id) === taken.fields, taken.id)
      for (const { id, fields } of sent) plants.set(id, fields)
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
    case 'patchAll': {
      const left: Left = { conflicts: [], missing: [] }
      for (const { id, expected, fields } of request.plants) {
        const before = plants.get(id)
        if (before === undefined) left.missing.push(id)
        else if (before !== expected) left.conflicts.push(id)
        else plants.set(id, fields)
      }
      return { is: 'done', left }
    }
    case 'deleteAll': {
      const left: Left = { conflicts: [], missing: [] }
      for (const { id, fields } of request.plants) {
        const before = plants.get(id)
        if (before === undefined) left.missing.push(id)
        else if (before !== fields) left.conflicts.push(id)
        else plants.delete(id)
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

/** True if the outcome of an operation is what the store would have told. */
function isShown({ request, outcome }: Operation, told: Outcome, plants: Map<number, string>) {
  if (outcome.is !== 'exists' || request.kind !== 'batch') return Bun.deepEquals(outcome, told)
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
    const told = perform(operation.request, after)
    return (isUnknown || isShown(operation, told, plants)) && someOrderExplains(rest, after)
  })
}

const id = fc.integer({ min: 1, max: 3 })
const fields = fc.constantFrom('a', 'b')
const anyRequest: fc.Arbitrary<Request> = fc.oneof(
  fc.record({ kind: fc.constantFrom('create', 'replace'), id, fields }),
  fc.record({ kind: fc.constantFrom('delete', 'read'), id }),
  fc.record({ kind: fc.constant('patch'), id, tag: fields }),
  fc.tuple(fc.constantFrom('a', 'b', 'a with b'), fields, id).map(([a, b, of]) => swap(a, b, of)),
  fc
    .tuple(fields, fc.shuffledSubarray([1, 2, 3], { minLength: 2 }))
    .map(([it, ids]) => batch(it, ...ids)),
  fc
    .array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.constantFrom('a', 'b', 'a with b')), {
      minLength: 1,
    })
    .map((plants) => put(...new Map(plants))),
  fc
    .array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.constantFrom('a', 'b', 'a with b')), {
      minLength: 1,
    })
    .map((plants) => deleteAll(...new Map(plants))),
  fc
    .uniqueArray(
      fc.tuple(fc.integer({ min: 1, max: 3 }), fc.constantFrom('a', 'b', 'a with b'), fields),
      { minLength: 1, selector: ([it]) => it },
    )
    .map((plants) => patchAll(...plants)),
)
// Positions of the call, the effect and the end of an operation.
const anyPlaces = fc.uniqueArray(fc.nat(1000), { minLength: 3, maxLength: 3 })
const anyFate = fc.constantFrom('told', 'told', 'told', 'unknown', 'refused', 'never ends')
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
      const told = perform(request, plants)
      const outcome = fate === 'told' ? told : fate === 'refused' ? refused : unknown
      const end = fate === 'never ends' ? Infinity : ended
      const times = { called, ended: end, calledMs: called, endedMs: end }
      return { client, request, outcome, ...times }
    })
  })

/** Seldom linearizable: two operations that were asked the same have been told each other's answer. */
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

test('agrees with a trial of every order', () => {
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
