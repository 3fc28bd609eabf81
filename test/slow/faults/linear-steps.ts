// The preconditions and effects of a history's operations on the plants.
import {
  type Counts,
  idsOf,
  joinFields,
  type Left,
  type Operation,
  splitFields,
} from './history.ts'

/** The fields stored under an id; null for no plant. */
export type Fields = string | null

/** The precondition and the effect of an operation. */
export interface Step {
  operation: Operation
  ids: number[]
  allows: (plants: Plants) => boolean
  /** The plants that it writes. */
  writes: (plants: Plants) => [id: number, fields: Fields][]
  /** Its effect, the same text for equal effects; null for a read-only operation. */
  effect: string | null
  /** It may also never have taken effect. */
  isOptional: boolean
}

export type Plants = ReadonlyMap<number, Fields>

// Fields that no response shows need not be distinguished: that keeps the states few.
const UNSEEN = 'fields that no answer showed'

/** The values that a put and another operation wrote to the same plant: a put compares them with the stored ones. */
function writtenAgain(operations: Operation[]): string[] {
  const writers = new Map<string, Operation['request'][]>()
  for (const { request } of operations) {
    const keys = writtenBy(request).flatMap(({ id, fields }) =>
      splitFields(fields).map((field) => `${id} ${field}`),
    )
    if (request.kind === 'patch') keys.push(`${request.id} ${request.tag}`)
    for (const key of new Set(keys)) writers.set(key, [...(writers.get(key) ?? []), request])
  }
  return [...writers].flatMap(([key, requests]) =>
    requests.length > 1 && requests.some(({ kind }) => kind === 'put') ? [key] : [],
  )
}

/** The values written to a field of a plant, as far as answers distinguish them. */
export function createLabels(operations: Operation[]) {
  const seen = new Set<string>()
  const see = (id: number, fields: string) => {
    for (const field of splitFields(fields)) seen.add(`${id} ${field}`)
  }
  for (const { request, outcome } of operations) {
    if ('id' in request && outcome.is === 'done' && outcome.fields !== undefined)
      see(request.id, outcome.fields)
    if (request.kind === 'swap') see(request.id, request.expected)
    if (request.kind === 'swapAll') for (const { id, expected } of request.plants) see(id, expected)
    if (outcome.is !== 'exists') continue
    for (const { id, fields } of writtenBy(request)) see(id, fields)
  }
  for (const key of writtenAgain(operations)) seen.add(key)
  const label = (id: number, field: string) => (seen.has(`${id} ${field}`) ? field : UNSEEN)
  return (id: number, fields: string): string => {
    const [name, tag] = splitFields(fields)
    return joinFields(label(id, name), label(id, tag))
  }
}

const writtenBy = (request: Operation['request']): { id: number; fields: string }[] => {
  const plants = 'plants' in request ? request.plants : 'fields' in request ? [request] : []
  return plants.flatMap(({ id, fields }) => (fields === null ? [] : [{ id, fields }]))
}

function countsOf(written: readonly [id: number, fields: Fields][], plants: Plants): Counts {
  const counts = { created: 0, replaced: 0, unchanged: 0 }
  for (const [id, fields] of written) {
    const before = plants.get(id) ?? null
    // What nothing else has written or shown is not stored.
    const isSame = before === fields && !fields?.includes(UNSEEN)
    counts[before === null ? 'created' : isSame ? 'unchanged' : 'replaced'] += 1
  }
  return counts
}

type Swap = { id: number; expected: string; fields: Fields }

/** The plants that a batch of patches or deletes leaves. */
function leftOf(swaps: readonly Swap[], plants: Plants): Left {
  const left: Left = { conflicts: [], missing: [] }
  for (const { id, expected } of swaps) {
    const before = plants.get(id) ?? null
    if (before === null) left.missing.push(id)
    else if (before !== expected) left.conflicts.push(id)
  }
  return left
}

const withTag = (fields: string, tag: string) => joinFields(splitFields(fields)[0], tag)

type Label = ReturnType<typeof createLabels>

/** A step that only shows something. */
const shows = (
  operation: Operation,
  allows: Step['allows'],
  ids = idsOf(operation.request),
): Step => ({
  operation,
  ids,
  allows,
  writes: () => [],
  effect: null,
  isOptional: operation.outcome.is === 'unknown',
})

const labelled = ({ request }: Operation, label: Label) =>
  writtenBy(request).map(({ id, fields }): [number, Fields] => [id, label(id, fields)])

/** The step of an operation, null for none: one that was refused, or a read without an answer. */
export function stepOf(operation: Operation, label: Label): Step | null {
  const { request, outcome } = operation
  const [id = 0] = idsOf(request)
  switch (outcome.is) {
    case 'refused':
      return null
    case 'absent':
      return shows(operation, (plants) => plants.get(id) === null)
    case 'exists': {
      const { id: taken, same } = outcome
      const fields = labelled(operation, label).find(([it]) => it === taken)?.[1]
      const allows = (plants: Plants) =>
        plants.get(taken) !== null && (plants.get(taken) === fields) === same
      return shows(operation, allows, [taken])
    }
    case 'mismatch': {
      const expected = request.kind === 'swap' ? request.expected : null
      return shows(operation, (plants) => ![null, expected].includes(plants.get(id) ?? null))
    }
    case 'unknown':
      return request.kind === 'read' ? null : changeOf(operation, label)
    default:
      return changeOf(operation, label)
  }
}

/** The step of an operation that was done, or may have been. */
function changeOf(operation: Operation, label: Label): Step {
  const { request, outcome } = operation
  const ids = idsOf(request)
  const [id = 0] = ids
  const { fields, counts, left } = outcome.is === 'done' ? outcome : {}
  const changes = (allows: Step['allows'], effect: string, writes: Step['writes']): Step => ({
    ...shows(operation, allows),
    writes,
    effect: `${request.kind} ${id} ${effect}`,
  })
  const written = labelled(operation, label)
  const sets = (allows: Step['allows']) => changes(allows, JSON.stringify(written), () => written)
  switch (request.kind) {
    case 'read':
      return shows(operation, (plants) => plants.get(id) === (fields ?? null))
    case 'create':
      return sets((plants) => ids.every((it) => plants.get(it) === null))
    case 'put':
      return sets((plants) => !counts || Bun.deepEquals(countsOf(written, plants), counts))
    case 'replace':
      return sets((plants) => plants.get(id) !== null)
    case 'swap':
      return {
        ...sets((plants) => plants.get(id) === request.expected),
        effect: JSON.stringify(request),
      }
    case 'swapAll': {
      const swaps = request.plants.map(
        (it): Swap => ({
          id: it.id,
          expected: label(it.id, it.expected),
          fields: it.fields && label(it.id, it.fields),
        }),
      )
      return changes(
        (plants) => !left || Bun.deepEquals(leftOf(swaps, plants), left),
        JSON.stringify(swaps),
        (plants) =>
          swaps
            .filter((it) => plants.get(it.id) === it.expected)
            .map(({ id, fields }) => [id, fields]),
      )
    }
    case 'delete':
      return changes(
        (plants) => plants.get(id) !== null,
        '',
        () => [[id, null]],
      )
    case 'patch': {
      const patched = (plants: Plants) => {
        const before = plants.get(id) ?? null
        return before === null ? null : withTag(before, label(id, request.tag))
      }
      const isShown = (after: Fields) =>
        after !== null && (outcome.is === 'unknown' || after === fields)
      return changes(
        (plants) => isShown(patched(plants)),
        request.tag,
        (plants) => [[id, patched(plants)]],
      )
    }
  }
}
