// A store of plants in a few lines: the expected answers of its requests, computed without the daemon's code.

import type { PlantFilter } from '../../src/plant/plants'
import { matches } from '../harness/filters'

export type ModelPlant = { readonly name: string; readonly tag?: string }
export type ModelChange = { readonly name?: string; readonly tag?: string | null }
export type ModelUpdate = ModelChange & { readonly id: bigint; readonly was?: ModelChange }
export type ModelList = PlantFilter & {
  readonly limit: number
  readonly after?: bigint
  readonly order?: 'asc' | 'desc'
}

/** The expected status and body; of an error, only its number. */
export type Expected = readonly [status: number, body: string | number]

type Sent = ModelPlant & { readonly id: bigint }

const refuse = (error: number): Expected => [Math.floor(error / 100), error]
const NO_PLANT = refuse(40402)

const fieldsText = ({ name, tag }: ModelPlant) => JSON.stringify({ name, tag })
const plantText = (id: bigint, plant: ModelPlant) => `{"id":${id},${fieldsText(plant).slice(1)}`
const idsText = (ids: readonly bigint[]) => `[${ids.map((id) => `{"id":${id}}`).join(',')}]`

const isSame = (a: ModelPlant, b: ModelPlant) => fieldsText(a) === fieldsText(b)
const compareTexts = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

const withTag = (name: string, tag: string | null | undefined): ModelPlant =>
  tag === null || tag === undefined ? { name } : { name, tag }

const patched = (plant: ModelPlant, { name = plant.name, tag = plant.tag }: ModelChange) =>
  withTag(name, tag)

const isAs = (plant: ModelPlant, was: ModelChange) =>
  (was.name === undefined || was.name === plant.name) &&
  (was.tag === undefined || was.tag === (plant.tag ?? null))

export class Model {
  readonly plants = new Map<bigint, ModelPlant>()

  create(sent: readonly Sent[], isBatch: boolean): Expected {
    for (const { id, ...plant } of sent) {
      const stored = this.plants.get(id)
      if (stored) return refuse(isSame(stored, plant) ? 40901 : 40902)
    }
    for (const { id, ...plant } of sent) this.plants.set(id, plant)
    const [first] = sent
    return [200, isBatch || !first ? `{"created":${sent.length}}` : fieldsText(first)]
  }

  put(sent: readonly Sent[]): Expected {
    const counts = { created: 0, replaced: 0, unchanged: 0 }
    for (const { id, ...plant } of sent) {
      const stored = this.plants.get(id)
      counts[!stored ? 'created' : isSame(stored, plant) ? 'unchanged' : 'replaced'] += 1
      this.plants.set(id, plant)
    }
    return [200, JSON.stringify(counts)]
  }

  patchAll(updates: readonly ModelUpdate[]): Expected {
    const counts = { created: 0, patched: 0, unchanged: 0 }
    const conflicts: bigint[] = []
    const missing: bigint[] = []
    for (const { id, was, ...change } of updates) {
      const stored = this.plants.get(id)
      if (stored && was && !isAs(stored, was)) conflicts.push(id)
      else if (stored) {
        const after = patched(stored, change)
        counts[isSame(stored, after) ? 'unchanged' : 'patched'] += 1
        this.plants.set(id, after)
      } else if (was || change.name === undefined) missing.push(id)
      else {
        counts.created += 1
        this.plants.set(id, withTag(change.name, change.tag))
      }
    }
    const left = `"conflicts":${idsText(conflicts)},"missing":${idsText(missing)}`
    return [200, `${JSON.stringify(counts).slice(0, -1)},${left}}`]
  }

  deleteAll(sent: readonly Sent[]): Expected {
    const conflicts: bigint[] = []
    const missing: bigint[] = []
    for (const { id, ...plant } of sent) {
      const stored = this.plants.get(id)
      if (!stored) missing.push(id)
      else if (!isSame(stored, plant)) conflicts.push(id)
      else this.plants.delete(id)
    }
    const deleted = sent.length - conflicts.length - missing.length
    const left = `"conflicts":${idsText(conflicts)},"missing":${idsText(missing)}`
    return [200, `{"deleted":${deleted},${left}}`]
  }

  read(id: bigint): Expected {
    const plant = this.plants.get(id)
    return plant ? [200, plantText(id, plant)] : NO_PLANT
  }

  replace({ id, ...plant }: Sent): Expected {
    if (this.plants.has(id)) this.plants.set(id, plant)
    return this.read(id)
  }

  patch(id: bigint, change: ModelChange): Expected {
    const stored = this.plants.get(id)
    if (stored) this.plants.set(id, patched(stored, change))
    return this.read(id)
  }

  delete(id: bigint): Expected {
    return this.plants.delete(id) ? [204, ''] : NO_PLANT
  }

  /** Small enough to be searched as a whole. */
  list({ limit, after, order = 'asc', ...filter }: ModelList): Expected {
    const { tag } = filter
    if (tag !== undefined && filter.tagged !== undefined) return refuse(40002)
    const isAsc = order === 'asc'
    const rows = [...this.plants]
      .filter(([id]) => after === undefined || (isAsc ? id > after : id < after))
      .filter(([, plant]) => tag === undefined || plant.tag === tag)
      .sort(([a], [b]) => (a < b === isAsc ? -1 : 1))
    const hits = rows.filter(([id, plant]) => matches(filter, { id, ...plant }))
    const page = hits.slice(0, limit)
    const last = page.length === limit ? page.at(-1)?.[0] : undefined
    const isEnd = last === undefined || last === rows.at(-1)?.[0]
    const texts = page.map(([id, plant]) => plantText(id, plant))
    return [200, `{"plants":[${texts.join(',')}],"next":${isEnd ? null : `"${last}"`}}`]
  }

  tags(limit: number, after: string | undefined): Expected {
    const counts = new Map<string, number>()
    for (const { tag } of this.plants.values()) {
      if (tag !== undefined) counts.set(tag, (counts.get(tag) ?? 0) + 1)
    }
    const rest = [...counts]
      .map(([tag, plants]) => ({ tag, plants }))
      .filter(({ tag }) => after === undefined || compareTexts(tag, after) > 0)
      .sort((a, b) => compareTexts(a.tag, b.tag))
    const tags = rest.slice(0, limit)
    const [last, following = ''] = [tags.at(-1)?.tag, rest[limit]?.tag]
    // Never empty.
    const place = last === '' ? (following > '!' ? '!' : '\u0001') : last
    const next = rest.length > limit ? place : null
    return [200, JSON.stringify({ tags, next })]
  }
}
