// Carries out changes of plants in as few requests as possible. A plant is changed only if it is still as it was before:
// later changes by others stay.

import {
  type Deleted,
  ERRORS,
  type Failure,
  type NewPlant,
  type Result,
} from '../../../client/client.ts'
import { createPlants } from '../create-plants.ts'
import type { PlantList } from '../list/plant-list.ts'
import { sendGroups } from '../send-groups.ts'
import type { Session } from '../session.ts'
import { hasSameTexts } from '../texts.ts'
import { CHANGED_REASON, GONE_REASON, type SkippedStep, TAKEN_REASON } from './describe.ts'
import { changedTexts, type Step, textsOf, withTexts } from './step.ts'

// Browsers open six connections to a host: more requests would wait in line.
const CONCURRENCY = 6
// The plant already is as intended: an earlier answer was lost, or someone else did the same.
const DONE_REASON = 'done already'

/** `refusal`: a failure after which no more steps of its kind were sent. */
export type Outcome = {
  readonly doneSteps: readonly Step[]
  readonly skippedSteps: readonly SkippedStep[]
  readonly refusal?: Failure
}

/** Shows plants as the steps will leave them; created ones only once they are stored. */
export function showPending(list: PlantList, steps: readonly Step[]): void {
  const changes = new Map<bigint, NewPlant | null>()
  for (const step of steps) {
    const { id, before, after } = step
    const currentPlant = list.rows.plant(id) ?? before
    if (!after) changes.set(id, null)
    else if (currentPlant)
      changes.set(id, withTexts(currentPlant, textsOf(after, changedTexts(step))))
  }
  list.showPending(changes)
}

/** Shows plants as they were before steps that were not carried out. */
const showUnchanged = (list: PlantList, steps: readonly Step[]): void =>
  list.putAll(steps.flatMap(({ before }) => (before ? [before] : [])))

/** Shows a plant as it is stored, after its step was skipped; resolves to the reason. */
async function showStored(list: PlantList, step: Step): Promise<SkippedStep> {
  const { id, before, after } = step
  const current = await list.session.persist((client) => client.readPlant(id))
  if (!current.ok && current.error !== ERRORS['no such plant']) {
    showUnchanged(list, [step])
    return { step, why: current.message }
  }
  if (!current.ok) {
    list.remove(id)
    return { step, why: after === null ? DONE_REASON : GONE_REASON }
  }
  list.put(current.value)
  if (!before) return { step, why: TAKEN_REASON }
  const target = after && withTexts(current.value, textsOf(after, changedTexts(step)))
  return { step, why: target && hasSameTexts(current.value, target) ? DONE_REASON : CHANGED_REASON }
}

/** The plants that a request left out. */
type LeftOut = Pick<Deleted, 'conflicts' | 'missing'>
/** `isRepeated`: the answer to an earlier try may have been lost. */
type Send = (
  session: Session,
  steps: readonly Step[],
) => Promise<Result<LeftOut> & { readonly isRepeated: boolean }>

const sendDeletions: Send = (session, steps) => {
  const plants = steps.flatMap(({ before }) => (before ? [before] : []))
  return session.persist((client) => client.deletePlants(plants))
}

const sendChanges: Send = (session, steps) => {
  const updates = steps.map((step) => {
    const texts = changedTexts(step)
    return { id: step.id, ...textsOf(step.after, texts), was: textsOf(step.before, texts) }
  })
  return session.persist((client) => client.patchPlants(updates))
}

const sendCreations: Send = async (session, steps) => {
  const plants = steps.flatMap(({ after }) => (after ? [after] : []))
  const result = await createPlants(session, plants)
  if (!result.ok) return result
  const conflicts = result.value.refused.map(({ plant }) => plant)
  return { ...result, value: { conflicts, missing: [] } }
}

const plantsOf = ({ before, after }: Step) => [before, after].filter((plant) => plant !== null)

/** Sends steps until one is refused. */
async function* sendEach(
  list: PlantList,
  steps: readonly Step[],
  send: Send,
): AsyncGenerator<Outcome, void, void> {
  let sent = 0
  for await (const { group, result } of sendGroups(steps, plantsOf, (part) =>
    send(list.session, part),
  )) {
    if (!result.ok) {
      const rest = steps.slice(sent)
      showUnchanged(list, rest)
      const skippedSteps = rest.map((step) => ({ step, why: result.message }))
      yield { doneSteps: [], skippedSteps, refusal: result }
      return
    }
    sent += group.length
    const { conflicts, missing } = result.value
    const leftOutIds = new Set([...conflicts, ...missing].map(({ id }) => id))
    const leftOut = group.filter(({ id }) => leftOutIds.has(id))
    const doneSteps = group.filter(({ id }) => !leftOutIds.has(id))
    // An earlier save may have shown them as they were.
    showPending(list, doneSteps)
    for (const { id } of doneSteps) list.rows.clearPending(id)
    list.putAll(doneSteps.flatMap(({ before, after }) => (before || !after ? [] : [after])))
    yield { doneSteps, skippedSteps: [] }
    for (let at = 0; at < leftOut.length; at += CONCURRENCY) {
      const batch = leftOut.slice(at, at + CONCURRENCY)
      const part = await Promise.all(batch.map((step) => showStored(list, step)))
      const skippedSteps = part.filter(({ why }) => why !== DONE_REASON)
      const appliedSteps = result.isRepeated ? part.filter(({ why }) => why === DONE_REASON) : []
      yield { doneSteps: appliedSteps.map(({ step }) => step), skippedSteps }
    }
  }
}

/** Carries out steps; yields the outcome of each group. */
export async function* executeSteps(
  list: PlantList,
  steps: readonly Step[],
): AsyncGenerator<Outcome, void, void> {
  const kindOf = ({ before, after }: Step) =>
    before === null ? 'created' : after === null ? 'deleted' : 'changed'
  const { created = [], deleted = [], changed = [] } = Object.groupBy(steps, kindOf)
  yield* sendEach(list, deleted, sendDeletions)
  yield* sendEach(list, changed, sendChanges)
  yield* sendEach(list, created, sendCreations)
}
