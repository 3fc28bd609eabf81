// An action on plants: deleting them, or setting a tag. A plant is changed only if it is still as the table showed it.

import type { Client, Failure, NewPlant } from '../../../client/client.ts'
import { plantsOf } from '../counts.ts'
import type { PlantList } from '../list/plant-list.ts'
import type { Session } from '../session.ts'
import { hasSameTexts } from '../texts.ts'

const CHANGED = 'someone changed it'
export const GONE = 'someone deleted it'

/** Sets a tag, or removes it (''); without a tag, deletes the plants. */
export type BulkAction = { readonly tag?: string }

/** A plant that was read before the action; the condition is its ETag. */
export type Checked = { readonly plant: NewPlant; readonly etag: string | undefined }

/** A plant that is not changed, and the reason. */
export type Skipped = { readonly plant: NewPlant; readonly why: string }

export const isSkipped = (it: Checked | Skipped): it is Skipped => 'why' in it

const withTag = ({ tag: _, ...plant }: NewPlant, tag: string): NewPlant => ({
  ...plant,
  ...(tag === '' ? {} : { tag }),
})

/** Shows plants as they will be. */
export function show(list: PlantList, { tag }: BulkAction, plants: readonly NewPlant[]): void {
  if (tag === undefined) list.rows.hide(plants.map(({ id }) => id))
  else list.showAs(plants.map((plant) => withTag(plant, tag)))
}

/** Reads a plant before it is changed; waits for the end of an outage. */
export async function check(
  session: Session,
  list: PlantList,
  plant: NewPlant,
): Promise<Checked | Skipped> {
  const now = await session.persist((client) => client.readPlant(plant.id))
  if (now.ok && hasSameTexts(now.value, plant)) return { plant, etag: now.etag }
  if (now.ok) {
    list.put(now.value)
    return { plant: now.value, why: CHANGED }
  }
  if (now.error !== 40402) {
    list.put(plant)
    return { plant, why: now.message }
  }
  list.remove(plant.id)
  return { plant, why: GONE }
}

/** Sends the change of one plant, on the condition that it is as it was read. */
export function send(client: Client, { tag }: BulkAction, { plant: { id }, etag }: Checked) {
  const condition = etag === undefined ? {} : { ifMatch: etag }
  return tag === undefined
    ? client.deletePlant(id, condition)
    : client.patchPlant(id, { tag: tag === '' ? null : tag }, condition)
}

/** Like {@link send}, for a plant that was not read yet. */
export async function readAndSend(
  client: Client,
  action: BulkAction,
  plant: NewPlant,
): Promise<void> {
  const now = await client.readPlant(plant.id)
  if (now.ok && hasSameTexts(now.value, plant))
    await send(client, action, { plant, etag: now.etag })
}

const isAboutPlant = ({ error }: Failure): boolean => error === 41201 || error === 40402

/** Shows plants as they were, as nothing was changed. */
export function putBack(
  list: PlantList,
  plants: readonly NewPlant[],
  { message }: Failure,
): readonly Skipped[] {
  list.putAll(plants)
  return plants.map((plant) => ({ plant, why: message }))
}

/** Shows a plant that was not changed as it is stored; null if it already is as the action leaves it. */
export async function readAgain(
  session: Session,
  list: PlantList,
  { tag }: BulkAction,
  plant: NewPlant,
): Promise<Skipped | null> {
  const now = await session.persist((client) => client.readPlant(plant.id))
  if (!now.ok && now.error !== 40402) return putBack(list, [plant], now)[0] ?? null
  if (!now.ok) {
    list.remove(plant.id)
    return tag === undefined ? null : { plant, why: GONE }
  }
  list.put(now.value)
  // The answer of an earlier try may have been lost.
  if (tag !== undefined && hasSameTexts(now.value, withTag(plant, tag))) return null
  return { plant: now.value, why: CHANGED }
}

type Change = {
  readonly action: BulkAction
  /** The plant as it was read already. */
  readonly checked?: Checked | undefined
  /** Is told of a refusal that is not about the plant: it would hit all others too. */
  readonly onRefusal?: (refusal: Failure) => void
}

/** Changes one plant, by a request of its own; null if it is as the action leaves it. */
export async function changePlant(
  session: Session,
  list: PlantList,
  plant: NewPlant,
  { action, checked, onRefusal }: Change,
): Promise<Skipped | null> {
  const found = checked ?? (await check(session, list, plant))
  if (isSkipped(found)) return found
  const result = await session.persist<unknown>((client) => send(client, action, found))
  if (result.ok) {
    list.rows.settle(plant.id)
    return null
  }
  if (isAboutPlant(result)) return readAgain(session, list, action, plant)
  onRefusal?.(result)
  return putBack(list, [plant], result)[0] ?? null
}

/** The reasons with the number of plants of each: `2 (someone changed it)`. */
function reasons(skipped: readonly Skipped[]): string {
  const counts = new Map<string, number>()
  for (const { why } of skipped) counts.set(why, (counts.get(why) ?? 0) + 1)
  return [...counts].map(([why, count]) => `${count.toLocaleString()} (${why})`).join(', ')
}

/** The sentence on the plants that a check excludes. */
export function describeSkipped(
  { tag }: BulkAction,
  count: number,
  skipped: readonly Skipped[],
): string {
  const [only] = skipped
  if (!only) return ''
  if (count > 1) return `${skipped.length} of ${plantsOf(count)} left out: ${reasons(skipped)}`
  if (only.why !== CHANGED) return `Plant ${only.plant.id}: ${only.why}`
  const verb = tag === undefined ? 'delete' : 'tag'
  return `Plant ${only.plant.id} has changed; check it before you ${verb} it`
}

/** The sentence on the outcome; '' if it goes without saying. */
export function describeOutcome(
  { tag }: BulkAction,
  count: number,
  skipped: readonly Skipped[],
): string {
  const [only] = skipped
  if (tag === undefined && count === 1) {
    return only ? `Plant ${only.plant.id} was not deleted: ${only.why}` : ''
  }
  const changed = count - skipped.length
  const plants = only ? `${changed.toLocaleString()} of ${plantsOf(count)}` : plantsOf(changed)
  const done =
    tag === undefined
      ? `${plants} deleted`
      : tag === ''
        ? `Tag removed from ${plants}`
        : `Tag “${tag}” set on ${plants}`
  return only ? `${done}; left out: ${reasons(skipped)}` : done
}
