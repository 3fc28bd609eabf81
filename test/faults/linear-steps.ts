// What the operations of a history require of the plants, and what they make of them.
import { idsOf, type Operation } from './history.ts'

/** What is stored under an id; null for no plant. */
export type Fields = string | null

/** What an operation requires of the plants, and what it makes of them. */
export interface Step {
  operation: Operation
  ids: number[]
  allows: (plants: Plants) => boolean
  /** The plants that it writes; none for an operation that only shows what was there. */
  writes: [id: number, fields: Fields][]
  /** It may also never have taken effect. */
  isOptional: boolean
}

export type Plants = ReadonlyMap<number, Fields>

// Fields that no answer speaks of need not be told apart: that keeps the states few.
const UNSEEN = 'fields that no answer showed'

/** What each plant is written with, as far as answers tell it apart. */
export function createLabels(operations: Operation[]) {
  const seen = new Set<string>()
  for (const { request, outcome } of operations) {
    if (request.kind === 'read' && outcome.is === 'done')
      seen.add(`${request.id} ${outcome.fields}`)
    if (outcome.is !== 'exists') continue
    for (const { id, fields } of writtenBy(request)) seen.add(`${id} ${fields}`)
  }
  return (id: number, fields: string) => (seen.has(`${id} ${fields}`) ? fields : UNSEEN)
}

const writtenBy = (request: Operation['request']): { id: number; fields: string }[] => {
  if (request.kind === 'batch') return request.plants
  return 'fields' in request ? [request] : []
}

export function stepOf(operation: Operation, label: ReturnType<typeof createLabels>): Step | null {
  const { request, outcome } = operation
  const ids = idsOf(request)
  const step = (allows: Step['allows'], writes: Step['writes'] = []): Step => ({
    operation,
    ids,
    allows,
    writes,
    isOptional: outcome.is === 'unknown',
  })
  const writes = writtenBy(request).map(({ id, fields }): Step['writes'][0] => [
    id,
    label(id, fields),
  ])
  const [id = 0] = ids
  switch (outcome.is) {
    case 'refused':
      return null
    case 'absent':
      return step((plants) => plants.get(id) === null)
    case 'exists': {
      const { id: taken, same } = outcome
      const fields = writes.find(([it]) => it === taken)?.[1]
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
    case 'batch':
      return step((plants) => ids.every((it) => plants.get(it) === null), writes)
    case 'replace':
      return step((plants) => plants.get(id) !== null, writes)
    case 'delete':
      return step((plants) => plants.get(id) !== null, [[id, null]])
  }
}
