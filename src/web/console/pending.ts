// Deletes plants and sets tags, of one or of many, with undo: carried out only once the time to undo has passed, so undo loses nothing.

import { batch, signal } from '@preact/signals'
import { type Client, createClient, type Failure, type NewPlant } from '../../client/client.ts'
import { inBatches } from './batch.ts'
import type { PlantList } from './plant-list.ts'
import type { Selection } from './selection.ts'
import type { Session } from './session.ts'
import { hasSameTexts } from './texts.ts'

const UNDO_MS = 8000
const TICK_MS = 250
// Chromium carries out 256 requests of a page that is left.
const MAX_ON_LEAVING = 200
const CHANGED = 'someone changed it'
const GONE = 'someone deleted it'

/** What is done to the plants: a tag is set, '' for none, or they are deleted. */
type Deed = { readonly tag?: string }

type Item = {
  readonly plant: NewPlant
  /** It is carried out only if the plant still has this ETag. */
  readonly etag: string | undefined
}

/** A plant that stays as it is, and why. */
type Left = { readonly plant: NewPlant; readonly why: string }

export type Pending = {
  readonly key: number
  readonly deed: Deed
  /** As they were before. */
  readonly plants: readonly NewPlant[]
  /** What is carried out; null until it is known which plants are still as the table showed them. */
  readonly items: readonly Item[] | null
  readonly leftMs: number
  /** How many were carried out or left; 0 as long as it can be undone. */
  readonly done: number
}

export type PendingChanges = ReturnType<typeof createPendingChanges>

export const plantsOf = (count: number): string =>
  `${count.toLocaleString()} ${count === 1 ? 'plant' : 'plants'}`

const ifMatch = (etag: string | undefined) => (etag === undefined ? {} : { ifMatch: etag })

const withTag = ({ tag: _, ...plant }: NewPlant, tag: string): NewPlant => ({
  ...plant,
  ...(tag === '' ? {} : { tag }),
})

const carryOut = (client: Client, { tag }: Deed, { plant: { id }, etag }: Item) =>
  tag === undefined
    ? client.deletePlant(id, ifMatch(etag))
    : client.patchPlant(id, { tag: tag === '' ? null : tag }, ifMatch(etag))

/** The reasons with the number of plants of each: `2 (someone changed it)`. */
function reasons(left: readonly Left[]): string {
  const counts = new Map<string, number>()
  for (const { why } of left) counts.set(why, (counts.get(why) ?? 0) + 1)
  return [...counts].map(([why, count]) => `${count.toLocaleString()} (${why})`).join(', ')
}

export function createPendingChanges(
  session: Session,
  list: PlantList,
  selection: Selection,
  say: (text: string) => void,
) {
  const waiting = signal<readonly Pending[]>([])
  const running = signal<readonly Pending[]>([])
  /** True if the countdown is paused, as someone is about to press Undo. */
  const isPaused = signal(false)
  let timer: number | undefined
  let keys = 0

  /** Shows the plants as they will be. */
  const show = ({ tag }: Deed, plants: readonly NewPlant[]): void =>
    batch(() => {
      for (const plant of plants) {
        if (tag === undefined) list.hide(plant.id)
        else list.put(withTag(plant, tag))
      }
    })

  function showGone(id: bigint): void {
    list.hide(id)
    list.forget(id)
  }

  /** What becomes of a plant whose change was refused; null if it is as it should be. */
  async function settle({ tag }: Deed, { plant }: Item, failure: Failure): Promise<Left | null> {
    const isAboutPlant = failure.error === 41201 || failure.error === 40402
    const now = isAboutPlant
      ? await session.persist((client) => client.readPlant(plant.id))
      : failure
    if (!now.ok && now.error !== 40402) {
      list.put(plant)
      return { plant, why: now.message }
    }
    if (!now.ok) {
      showGone(plant.id)
      return tag === undefined ? null : { plant, why: GONE }
    }
    list.forget(plant.id)
    list.put(now.value)
    // The answer of an earlier try may have been lost.
    if (tag !== undefined && hasSameTexts(now.value, withTag(plant, tag))) return null
    return { plant: now.value, why: CHANGED }
  }

  async function run(pending: Pending): Promise<void> {
    const { key, deed, items } = pending
    if (!items) return
    const left: Left[] = []
    let refusal: Failure | undefined
    running.value = [...running.value, pending]
    const outcomes = inBatches(items, async (item) => {
      // What is refused, but not because of the plant, would be refused for all others too.
      const result =
        refusal ?? (await session.persist<unknown>((client) => carryOut(client, deed, item)))
      if (!result.ok) {
        if (result.error !== 41201 && result.error !== 40402) refusal = result
        return settle(deed, item, result)
      }
      if (deed.tag === undefined) list.forget(item.plant.id)
      return null
    })
    for await (const part of outcomes) {
      left.push(...part.filter((it) => it !== null))
      running.value = running.value.map((it) =>
        it.key === key ? { ...it, done: it.done + part.length } : it,
      )
    }
    running.value = running.value.filter((it) => it.key !== key)
    if (session.isKnown.value) tell(deed, items, left)
  }

  /** For another try. */
  const selectAgain = (left: readonly Left[]): void =>
    selection.add(left.filter(({ why }) => why !== GONE).map(({ plant }) => plant))

  function tell({ tag }: Deed, items: readonly Item[], left: readonly Left[]): void {
    const [only, another] = items
    if (tag === undefined && only && !another) {
      for (const { why } of left) say(`Plant ${only.plant.id} was not deleted: ${why}`)
      return
    }
    const count = items.length - left.length
    const plants =
      left.length === 0 ? plantsOf(count) : `${count.toLocaleString()} of ${plantsOf(items.length)}`
    const done =
      tag === undefined
        ? `${plants} deleted`
        : tag === ''
          ? `Tag removed from ${plants}`
          : `Tag “${tag}” set on ${plants}`
    say(left.length === 0 ? done : `${done}; left out: ${reasons(left)}`)
    selectAgain(left)
  }

  function tick(): void {
    if (isPaused.value) return
    const all = waiting.value.map((it) => (it.items ? { ...it, leftMs: it.leftMs - TICK_MS } : it))
    waiting.value = all.filter(({ leftMs }) => leftMs > 0)
    for (const it of all.filter(({ leftMs }) => leftMs <= 0)) void run(it)
    if (waiting.value.length > 0) return
    clearInterval(timer)
    timer = undefined
    isPaused.value = false
  }

  /** Takes plants out of what waits, as something else is to be done to them; returns them as they were before that. */
  function takeBack(plants: readonly NewPlant[]): readonly NewPlant[] {
    const before = new Map(waiting.value.flatMap((it) => it.plants).map((it) => [it.id, it]))
    const taken = new Set(plants.map(({ id }) => id))
    const isKept = ({ id }: NewPlant) => !taken.has(id)
    waiting.value = waiting.value
      .map((it) => ({
        ...it,
        plants: it.plants.filter(isKept),
        items: it.items?.filter(({ plant }) => isKept(plant)) ?? null,
      }))
      .filter((it) => it.plants.length > 0)
    return plants.map((plant) => before.get(plant.id) ?? plant)
  }

  /** Reads a plant before it is changed: whether it is as the table showed it. */
  async function check(plant: NewPlant): Promise<Item | Left> {
    const now = await session.call((client) => client.readPlant(plant.id))
    if (now.ok && hasSameTexts(now.value, plant)) return { plant, etag: now.etag }
    if (now.ok) {
      list.put(now.value)
      return { plant: now.value, why: CHANGED }
    }
    if (now.error !== 40402) {
      list.put(plant)
      return { plant, why: now.message }
    }
    showGone(plant.id)
    return { plant, why: GONE }
  }

  /** Says which plants are left out before anything is done. */
  function tellLeft({ tag }: Deed, count: number, left: readonly Left[]): void {
    const [only] = left
    if (!only) return
    if (count > 1) {
      say(`${left.length} of ${plantsOf(count)} left out: ${reasons(left)}`)
      selectAgain(left)
    } else if (only.why === CHANGED) {
      const verb = tag === undefined ? 'delete' : 'tag'
      say(`Plant ${only.plant.id} has changed; check it before you ${verb} it`)
    } else say(`Plant ${only.plant.id}: ${only.why}`)
  }

  /** Shows the plants as they will be, and changes them once the time to undo has passed. */
  async function start(deed: Deed, wanted: readonly NewPlant[]): Promise<void> {
    const key = ++keys
    const plants = takeBack(wanted)
    // At once: if rows moved later, the next click might hit the wrong one.
    show(deed, plants)
    waiting.value = [...waiting.value, { key, deed, plants, items: null, leftMs: UNDO_MS, done: 0 }]
    timer ??= window.setInterval(tick, TICK_MS)
    const items: Item[] = []
    const left: Left[] = []
    for await (const part of inBatches(plants, check)) {
      for (const it of part) {
        if ('why' in it) left.push(it)
        else items.push(it)
      }
    }
    tellLeft(deed, plants.length, left)
    waiting.value = waiting.value
      .map((it) => {
        if (it.key !== key) return it
        const kept = items.filter(({ plant }) => it.plants.includes(plant))
        return { ...it, items: kept, plants: kept.map(({ plant }) => plant) }
      })
      .filter((it) => it.plants.length > 0)
  }

  /** Shows plants as they were. */
  function putBack(plants: readonly NewPlant[]): void {
    // The button that was pressed goes, which not every browser reports.
    isPaused.value = false
    batch(() => {
      for (const plant of plants) list.put(plant)
    })
    const [first, another] = plants
    if (first) say(another ? `${plantsOf(plants.length)} kept` : `Plant ${first.id} was kept`)
  }

  return {
    waiting,
    running,
    isPaused,

    remove: (plants: readonly NewPlant[]): Promise<void> => start({}, plants),

    setTag: (tag: string, plants: readonly NewPlant[]): Promise<void> => start({ tag }, plants),

    /** Puts back the plants of one change, or of the latest one. */
    undo(found = waiting.value.findLast(({ items }) => items !== null)): void {
      if (!found) return
      waiting.value = waiting.value.filter(({ key }) => key !== found.key)
      putBack(found.plants)
    },

    /** Puts back every plant that is about to be changed. */
    undoAll(): void {
      const all = waiting.value
      waiting.value = []
      putBack(all.flatMap(({ plants }) => plants))
    },

    /** True if leaving the page would leave something undone. */
    isAtRisk: (): boolean =>
      running.value.length > 0 ||
      waiting.value.reduce((sum, { plants }) => sum + plants.length, 0) > MAX_ON_LEAVING,

    /** Carries out everything at once, as the page or the token is about to go. Nobody sees the answers. */
    leave(isPageGone = false): void {
      const token = session.token()
      const all = [...waiting.value, ...running.value]
      waiting.value = []
      if (token === null) return
      const client = createClient({
        url: session.base,
        token,
        retries: 0,
        fetch: (url, init) => fetch(url, { ...init, keepalive: isPageGone }),
      })
      for (const { deed, items, done } of all) {
        for (const item of items?.slice(done) ?? []) void carryOut(client, deed, item)
      }
    },
  }
}
