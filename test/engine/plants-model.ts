// Plants in a map: the results of a store, computed without the code of the engines.
import type { ChangedTexts, Plant, PlantUpdate } from '../../src/plant/plant'
import type { Page, PlantQuery, Plants, TagPage, TagQuery } from '../../src/plant/plants'
import { type ErrorName, RequestError } from '../../src/request-errors'
import { matches } from '../harness/filters'

const isSame = (a: Plant, b: Plant) => Bun.deepEquals(a, b)
const compareTexts = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))
const refuse = (error: ErrorName) => Promise.reject(new RequestError(error))

const patched = (plant: Plant, change: ChangedTexts): Plant =>
  Object.fromEntries(
    Object.entries({ ...plant, ...change }).filter(([, value]) => value !== null),
  ) as Plant

const meets = (plant: Plant, was: ChangedTexts): boolean =>
  Object.entries(was).every(([name, text]) => text === (Reflect.get(plant, name) ?? null))

export class PlantsModel implements Plants {
  readonly #plants = new Map<bigint, Plant>()

  createPlant = (plant: Plant): Promise<void> => this.createPlants([plant])

  async createPlants(sent: readonly Plant[]): Promise<void> {
    for (const plant of sent) {
      const stored = this.#plants.get(plant.id)
      if (stored) return refuse(isSame(stored, plant) ? 'stored already' : 'taken')
    }
    for (const plant of sent) this.#plants.set(plant.id, plant)
  }

  async putPlants(sent: readonly Plant[]) {
    const counts = { created: 0, replaced: 0, unchanged: 0 }
    for (const plant of sent) {
      const stored = this.#plants.get(plant.id)
      counts[!stored ? 'created' : isSame(stored, plant) ? 'unchanged' : 'replaced'] += 1
      this.#plants.set(plant.id, plant)
    }
    return counts
  }

  async patchPlants(updates: readonly PlantUpdate[]) {
    const counts = { created: 0, patched: 0, unchanged: 0 }
    const [conflicts, missing]: [bigint[], bigint[]] = [[], []]
    for (const { id, was, ...change } of updates) {
      const stored = this.#plants.get(id)
      if (stored && was && !meets(stored, was)) conflicts.push(id)
      else if (!stored && (was || change.name === undefined)) missing.push(id)
      else {
        const after = patched(stored ?? { id, name: '' }, change)
        counts[!stored ? 'created' : isSame(stored, after) ? 'unchanged' : 'patched'] += 1
        this.#plants.set(id, after)
      }
    }
    return { ...counts, conflicts, missing }
  }

  async deletePlants(sent: readonly Plant[]) {
    const [conflicts, missing]: [bigint[], bigint[]] = [[], []]
    for (const plant of sent) {
      const stored = this.#plants.get(plant.id)
      if (!stored) missing.push(plant.id)
      else if (!isSame(stored, plant)) conflicts.push(plant.id)
      else this.#plants.delete(plant.id)
    }
    return { deleted: sent.length - conflicts.length - missing.length, conflicts, missing }
  }

  readPlant = async (id: bigint): Promise<Plant | null> => this.#plants.get(id) ?? null

  countPlants = async (): Promise<number> => this.#plants.size

  async replacePlant(plant: Plant): Promise<void> {
    if (!this.#plants.has(plant.id)) return refuse('no such plant')
    this.#plants.set(plant.id, plant)
  }

  async patchPlant(id: bigint, change: ChangedTexts): Promise<Plant> {
    const stored = this.#plants.get(id)
    if (!stored) return refuse('no such plant')
    const after = patched(stored, change)
    this.#plants.set(id, after)
    return after
  }

  async deletePlant(id: bigint): Promise<void> {
    if (!this.#plants.delete(id)) return refuse('no such plant')
  }

  async listPlants({ limit, after = null, order = 'asc', ...filter }: PlantQuery): Promise<Page> {
    const isAsc = order === 'asc'
    const rest = [...this.#plants.values()]
      .filter(({ id }) => after === null || (isAsc ? id > after : id < after))
      .filter(({ tag }) => filter.tag === undefined || tag === filter.tag)
      .sort((a, b) => (a.id < b.id === isAsc ? -1 : 1))
    const plants = rest.filter((plant) => matches(filter, plant)).slice(0, limit)
    const last = plants.length === limit ? plants.at(-1) : undefined
    return { plants, next: last && last !== rest.at(-1) ? last.id : null }
  }

  async listTags({ limit, after = null }: TagQuery): Promise<TagPage> {
    const tagged = [...this.#plants.values()].flatMap(({ tag }) => tag ?? [])
    const rest = [...Map.groupBy(tagged, (tag) => tag)]
      .map(([tag, { length }]) => ({ tag, plants: length }))
      .filter(({ tag }) => after === null || compareTexts(tag, after) > 0)
      .sort((a, b) => compareTexts(a.tag, b.tag))
    const tags = rest.slice(0, limit)
    const [last, following = ''] = [tags.at(-1)?.tag, rest[limit]?.tag]
    // Never empty.
    const place = last === '' ? (following > '!' ? '!' : '\u0001') : (last ?? null)
    return { tags, next: rest.length > limit ? place : null }
  }
}
