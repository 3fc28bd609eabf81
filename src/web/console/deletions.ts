// Deletions with undo: a plant is deleted only once the time to undo has passed, so undo loses nothing.

import { signal } from '@preact/signals'
import { createClient, type NewPlant } from '../../client/client.ts'
import type { PlantPages } from './plant-pages.ts'
import type { Session } from './session.ts'

const UNDO_MS = 8000
const TICK_MS = 250

export type Deletion = {
  readonly plant: NewPlant
  /** The plant is deleted only if it still has this ETag. */
  readonly etag: string | undefined
  readonly leftMs: number
}

export type Deletions = ReturnType<typeof createDeletions>

const isSame = (a: NewPlant, b: NewPlant): boolean => a.name === b.name && a.tag === b.tag

const ifMatch = (etag: string | undefined) => (etag === undefined ? {} : { ifMatch: etag })

export function createDeletions(session: Session, pages: PlantPages, say: (text: string) => void) {
  const waiting = signal<readonly Deletion[]>([])
  /** Whether the countdown is paused, as someone is about to press Undo. */
  const isPaused = signal(false)
  let timer: number | undefined

  const take = (id: bigint): Deletion | undefined => {
    const found = waiting.value.find(({ plant }) => plant.id === id)
    waiting.value = waiting.value.filter((it) => it !== found)
    return found
  }

  async function show(id: bigint): Promise<void> {
    const now = await session.call((client) => client.readPlant(id))
    pages.forget(id)
    if (now.ok) pages.put(now.value)
  }

  /** Deletes a plant, unless it has changed since. */
  async function carryOut({ plant, etag }: Deletion): Promise<void> {
    const { id } = plant
    const result = await session.persist((client) => client.deletePlant(id, ifMatch(etag)))
    // Already deleted by someone else.
    if (result.ok || result.error === 40402) return pages.forget(id)
    const changed = result.error === 41201
    say(`Plant ${id} was not deleted: ${changed ? 'someone changed it' : result.message}`)
    await show(id)
  }

  function tick(): void {
    if (isPaused.value) return
    const all = waiting.value.map((it) => ({ ...it, leftMs: it.leftMs - TICK_MS }))
    waiting.value = all.filter(({ leftMs }) => leftMs > 0)
    for (const it of all.filter(({ leftMs }) => leftMs <= 0)) void carryOut(it)
    if (waiting.value.length > 0) return
    clearInterval(timer)
    timer = undefined
    isPaused.value = false
  }

  return {
    waiting,
    isPaused,

    /** Takes a plant out of the table, and deletes it once the time to undo has passed. */
    async remove(plant: NewPlant): Promise<void> {
      if (waiting.value.some((it) => it.plant.id === plant.id)) return
      // At once: if rows moved later, the next click might hit the wrong one.
      pages.hide(plant.id)
      const now = await session.call((client) => client.readPlant(plant.id))
      if (!now.ok) {
        if (now.error !== 40402) pages.put(plant)
        say(`Plant ${plant.id}: ${now.message}`)
        return
      }
      if (!isSame(now.value, plant)) {
        pages.put(now.value)
        say(`Plant ${plant.id} has changed; check it before you delete it`)
        return
      }
      waiting.value = [...waiting.value, { plant, etag: now.etag, leftMs: UNDO_MS }]
      timer ??= window.setInterval(tick, TICK_MS)
    },

    /** Puts back the plant with an id, or the one deleted last. */
    undo(id = waiting.value.at(-1)?.plant.id): void {
      const found = id === undefined ? undefined : take(id)
      if (!found) return
      pages.put(found.plant)
      say(`Plant ${found.plant.id} was kept`)
    },

    /** Puts back every plant that is about to be deleted. */
    undoAll(): void {
      const all = waiting.value
      waiting.value = []
      for (const { plant } of all) pages.put(plant)
      say(`${all.length} plants were kept`)
    },

    /** Deletes everything that waits now, as the page or the token is about to go. Nobody sees the answers. */
    leave(): void {
      const token = session.token()
      const all = waiting.value
      waiting.value = []
      if (token === null) return
      const client = createClient({
        url: session.base,
        token,
        retries: 0,
        fetch: (url, init) => fetch(url, { ...init, keepalive: true }),
      })
      for (const { plant, etag } of all) void client.deletePlant(plant.id, ifMatch(etag))
    },
  }
}
