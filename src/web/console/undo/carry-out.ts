// Carries out changes of plants in as few requests as they fit into. Each plant is changed only if it is still as it was
// before; what someone else has changed since stays.

import {
  type Deleted,
  ERRORS,
  type Failure,
  type NewPlant,
  type Result,
} from '../../../client/client.ts'
import { plantText } from '../../../client/json.ts'
import { createPlants } from '../create-plants.ts'
import type { PlantList } from '../list/plant-list.ts'
import type { Session } from '../session.ts'
import { hasSameTexts } from '../texts.ts'
import { inBatches } from './batch.ts'
import { CHANGED, GONE, type Skipped, TAKEN } from './describe.ts'
import { changedTexts, type Step, textsOf, withTexts } from './step.ts'

const MAX_PLANTS = 1000
// A body of the default limit has room for three times as many bytes.
const MAX_BYTES = 300_000
// It is as it should be: by an earlier try whose answer was lost, or by someone else.
const DONE = 'done already'

const encoder = new TextEncoder()
const bytesOf = (plant: NewPlant | null): number =>
  plant ? encoder.encode(plantText(plant)).length + 1 : 0

/** `refusal`: the failure that would hit all others too, so that nothing more was sent. */
export type Outcome = {
  readonly done: readonly Step[]
  readonly skipped: readonly Skipped[]
  readonly refusal?: Failure
}

/** Steps in groups, of which each fits into a request. */
function* groupsOf(steps: readonly Step[]): Generator<readonly Step[]> {
  let group: Step[] = []
  let bytes = 0
  for (const step of steps) {
    const more = bytesOf(step.before) + bytesOf(step.after)
    if (group.length > 0 && (group.length === MAX_PLANTS || bytes + more > MAX_BYTES)) {
      yield group
      group = []
      bytes = 0
    }
    group.push(step)
    bytes += more
  }
  if (group.length > 0) yield group
}

/** Shows plants as they will be. Created ones are shown once they are stored. */
export function show(list: PlantList, steps: readonly Step[]): void {
  const gone = steps.filter(({ after }) => after === null)
  if (gone.length > 0) list.rows.hide(gone.map(({ id }) => id))
  const changed = steps.flatMap((step) => {
    const { id, before, after } = step
    const shown = list.rows.plant(id) ?? before
    return shown && after ? [withTexts(shown, textsOf(after, changedTexts(step)))] : []
  })
  if (changed.length > 0) list.showAs(changed)
}

/** Shows plants as they were, as nothing was changed. */
const putBack = (list: PlantList, steps: readonly Step[]): void =>
  list.putAll(steps.flatMap(({ before }) => (before ? [before] : [])))

/** Shows a plant that was not changed as it is stored; resolves to the reason. */
async function readAgain(session: Session, list: PlantList, step: Step): Promise<Skipped> {
  const { id, after } = step
  const now = await session.persist((client) => client.readPlant(id))
  if (!now.ok && now.error !== ERRORS['no such plant']) {
    putBack(list, [step])
    return { step, why: now.message }
  }
  if (!now.ok) {
    list.remove(id)
    return { step, why: after === null ? DONE : GONE }
  }
  list.put(now.value)
  const wanted = after && withTexts(now.value, textsOf(after, changedTexts(step)))
  return { step, why: wanted && hasSameTexts(now.value, wanted) ? DONE : CHANGED }
}

/** Deletes a plant that is too large for a batch. */
async function deleteOne(session: Session, step: Step): Promise<Result<boolean>> {
  const now = await session.persist((client) => client.readPlant(step.id))
  if (!now.ok) return now.error === ERRORS['no such plant'] ? { ok: true, value: true } : now
  const { etag } = now
  if (!step.before || !hasSameTexts(now.value, step.before)) return { ok: true, value: false }
  const condition = etag === undefined ? {} : { ifMatch: etag }
  const result = await session.persist((client) => client.deletePlant(step.id, condition))
  if (result.ok || result.error === ERRORS['no such plant']) return { ok: true, value: true }
  return result.error === ERRORS['precondition failed'] ? { ok: true, value: false } : result
}

/** The steps that a request left out; `isRepeated`: the answer of an earlier try may have been lost. */
type Sent = { readonly left: readonly Step[]; readonly isRepeated: boolean }

function sentOf(
  steps: readonly Step[],
  { changed, missing }: Pick<Deleted, 'changed' | 'missing'>,
  isRepeated: boolean,
): Sent {
  const left = new Set([...changed, ...missing].map(({ id }) => id))
  return { left: steps.filter(({ id }) => left.has(id)), isRepeated }
}

/** Sends the deletions of a group; resolves to the steps that were not carried out. */
async function sendDeletions(session: Session, steps: readonly Step[]): Promise<Result<Sent>> {
  const plants = steps.flatMap(({ before }) => (before ? [before] : []))
  let tries = 0
  const result = await session.persist((client) => {
    tries += 1
    return client.deletePlants(plants)
  })
  const [only, another] = steps
  if (!result.ok && result.error === ERRORS['too large'] && only && !another) {
    const one = await deleteOne(session, only)
    return one.ok ? { ok: true, value: { left: one.value ? [] : steps, isRepeated: false } } : one
  }
  if (!result.ok) return result
  return { ok: true, value: sentOf(steps, result.value, tries > 1) }
}

/** Sends the changes of a group; resolves to the steps that were not carried out. */
async function sendChanges(session: Session, steps: readonly Step[]): Promise<Result<Sent>> {
  const updates = steps.map((step) => {
    const texts = changedTexts(step)
    return { id: step.id, ...textsOf(step.after, texts), was: textsOf(step.before, texts) }
  })
  let tries = 0
  const result = await session.persist((client) => {
    tries += 1
    return client.patchPlants(updates)
  })
  if (!result.ok) return result
  return { ok: true, value: sentOf(steps, result.value, tries > 1) }
}

type Send = typeof sendChanges

/** Sends steps in groups, in halves where one is too large. */
async function* sendEach(
  session: Session,
  list: PlantList,
  steps: readonly Step[],
  send: Send,
): AsyncGenerator<Outcome, void, void> {
  const groups = [...groupsOf(steps)]
  for (let group = groups.shift(); group; group = groups.shift()) {
    const sent = group
    const result = await send(session, sent)
    if (result.ok) {
      const { left, isRepeated } = result.value
      const others = new Set(left)
      const done = sent.filter((step) => !others.has(step))
      for (const { id } of done) list.rows.settle(id)
      yield { done, skipped: [] }
      for await (const part of inBatches(left, (step) => readAgain(session, list, step))) {
        const skipped = part.filter(({ why }) => why !== DONE)
        const landed = isRepeated ? part.filter(({ why }) => why === DONE) : []
        yield { done: landed.map(({ step }) => step), skipped }
      }
    } else if (result.error === ERRORS['too large'] && sent.length > 1) {
      const half = Math.ceil(sent.length / 2)
      groups.unshift(sent.slice(0, half), sent.slice(half))
    } else {
      const rest = [...sent, ...groups.splice(0).flat()]
      putBack(list, rest)
      yield {
        done: [],
        skipped: rest.map((step) => ({ step, why: result.message })),
        refusal: result,
      }
    }
  }
}

async function* createEach(
  session: Session,
  list: PlantList,
  steps: readonly Step[],
): AsyncGenerator<Outcome, void, void> {
  const { signal } = new AbortController()
  for (let at = 0; at < steps.length; at += MAX_PLANTS) {
    const group = steps.slice(at, at + MAX_PLANTS)
    const plants = group.flatMap(({ after }) => (after ? [after] : []))
    const result = await createPlants(session, plants, signal)
    if (!result.ok) {
      const rest = steps.slice(at)
      const skipped = rest.map((step) => ({ step, why: result.message }))
      yield { done: [], skipped, refusal: result }
      return
    }
    const taken = new Set(result.value.refused.map(({ plant }) => plant.id))
    list.putAll(plants.filter(({ id }) => !taken.has(id)))
    yield {
      done: group.filter(({ id }) => !taken.has(id)),
      skipped: group.filter(({ id }) => taken.has(id)).map((step) => ({ step, why: TAKEN })),
    }
  }
}

/** Carries out steps; yields the outcome of each group. */
export async function* carryOut(
  session: Session,
  list: PlantList,
  steps: readonly Step[],
): AsyncGenerator<Outcome, void, void> {
  const kindOf = ({ before, after }: Step) =>
    before === null ? 'created' : after === null ? 'deleted' : 'changed'
  const { created = [], deleted = [], changed = [] } = Object.groupBy(steps, kindOf)
  yield* sendEach(session, list, deleted, sendDeletions)
  yield* sendEach(session, list, changed, sendChanges)
  yield* createEach(session, list, created)
}
