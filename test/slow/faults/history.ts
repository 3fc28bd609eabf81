// The requests of clients, the answers, and their observed order.

/** The fields of a plant as one text: what was written, or the name and the tag of two writes. */
export type Fields = string

const MIX = ' with '
export const joinFields = (name: string, tag: string): Fields =>
  name === tag ? name : `${name}${MIX}${tag}`

/** The name and the tag. */
export function splitFields(fields: Fields): [name: string, tag: string] {
  const [name = '', tag = name] = fields.split(MIX)
  return [name, tag]
}

export type Request =
  /** Of one plant, or of several at once. */
  | { kind: 'create'; plants: { id: number; fields: Fields }[] }
  | { kind: 'replace'; id: number; fields: Fields }
  | { kind: 'delete' | 'read'; id: number }
  /** PATCH of the tag alone. */
  | { kind: 'patch'; id: number; tag: string }
  /** Compare-and-set: PUT with If-Match, the entity tag under which `expected` was seen. */
  | { kind: 'swap'; id: number; expected: Fields; entityTag: string; fields: Fields }
  /** Creates or replaces plants. */
  | { kind: 'put'; plants: { id: number; fields: Fields }[] }
  /** Compare-and-set of several: PATCH /plants/batch with `was`; or, if all fields are null, their deletion. */
  | { kind: 'swapAll'; plants: { id: number; expected: Fields; fields: Fields | null }[] }

/** How many plants a put created, replaced, and found as they are. */
export interface Counts {
  created: number
  replaced: number
  unchanged: number
}

/** The plants that a batch of patches or deletes left: with other fields, and not stored. */
export interface Left {
  conflicts: number[]
  missing: number[]
}

export type Outcome =
  /** It was done; `fields` are what a read found, or a patch left. */
  | { is: 'done'; fields?: Fields; counts?: Counts; left?: Left }
  /** 404: there is no such plant. */
  | { is: 'absent' }
  /** 412: the plant is not what was expected. */
  | { is: 'mismatch' }
  /** 409: this id is taken, by a plant with the same fields or with others. */
  | { is: 'exists'; id: number; same: boolean }
  /** 503 or 507: it had no effect. */
  | { is: 'refused'; error: number }
  /** No answer: it took effect before `Operation.ended`, or never. */
  | { is: 'unknown' }

export interface Operation {
  client: number
  request: Request
  outcome: Outcome
  /** Places in the one order of all calls and ends. */
  called: number
  /** The position of the answer, or of the end of the process that might have executed it. */
  ended: number
}

export type History = ReturnType<typeof startHistory>

export function startHistory() {
  const operations: Operation[] = []
  let place = 0
  const end = (operation: Operation) => {
    if (operation.ended === Infinity) operation.ended = place++
  }
  return {
    operations,
    call(client: number, request: Request): Operation {
      const operation: Operation = {
        client,
        request,
        outcome: { is: 'unknown' },
        called: place++,
        ended: Infinity,
      }
      operations.push(operation)
      return operation
    },
    answer(operation: Operation, outcome: Outcome): void {
      operation.outcome = outcome
      // Without an answer, an operation may take effect for as long as its process lives.
      if (outcome.is !== 'unknown') end(operation)
    },
    /** It has no answer, and its process had ended before: it takes no effect from now on. */
    abandon: end,
    /** The process of these clients has ended: what it has not answered takes no effect from now on. */
    processEnded(isOf: (client: number) => boolean): void {
      for (const operation of operations) if (isOf(operation.client)) end(operation)
    },
  }
}

/** One line: who requested what, when, and the outcome. */
export const show = ({ client, request, outcome, called, ended }: Operation): string =>
  `[${called} to ${ended}, client ${client}] ${JSON.stringify(request)} -> ${JSON.stringify(outcome)}`

export const idsOf = (request: Request): number[] =>
  'plants' in request ? request.plants.map(({ id }) => id) : [request.id]

/** True if a request deletes plants. */
export const isDeletion = (request: Request): boolean =>
  request.kind === 'delete' ||
  (request.kind === 'swapAll' && request.plants.every(({ fields }) => fields === null))
