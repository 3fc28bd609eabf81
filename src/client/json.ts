// Plants as JSON with exact ids, although JSON.parse and JSON.stringify are exact only up to 2^53.

import { OPTIONAL_TEXTS } from './contract.ts'
import type {
  Change,
  ChangePage,
  Created,
  Deleted,
  Health,
  HistoryPage,
  NewPlant,
  OwnToken,
  Patched,
  Plant,
  PlantChange,
  PlantPage,
  PlantUpdate,
  PutCounts,
  Status,
  TagCount,
  TagPage,
} from './types.ts'

// A field `id` with an integer. Within a string, the quote would follow a backslash.
const INTEGER_ID = /([{,\s]"id"\s*:\s*)(-?\d+)(?![\d.eE])/g
const DIGITS = /^-?\d{1,19}$/

/** Like `JSON.parse`, with the integer of a field `id` as a string of digits. */
export const parseJson = (text: string): unknown => JSON.parse(text.replace(INTEGER_ID, '$1"$2"'))

type Fields = { readonly [name: string]: unknown }
type Writable<T> = { -readonly [Name in keyof T]: T[Name] }

/** The fields of a value; none if it is not a JSON object. */
export const fieldsOf = (value: unknown): Fields => Object(value)

/** A plant as answered by a create; undefined for any other value. */
export function toPlant(value: unknown): Plant | undefined {
  const fields = fieldsOf(value)
  if (typeof fields.name !== 'string') return undefined
  const plant: Writable<Plant> = { name: fields.name }
  for (const name of OPTIONAL_TEXTS) {
    const text = fields[name]
    if (typeof text === 'string') plant[name] = text
    else if (text !== undefined) return undefined
  }
  return plant
}

/** A plant with its id; undefined for any other value. */
export function toNewPlant(value: unknown): NewPlant | undefined {
  const id = fieldsOf(value).id
  const plant = toPlant(value)
  if (typeof id !== 'string' || !DIGITS.test(id) || plant === undefined) return undefined
  return { id: BigInt(id), ...plant }
}

/** The elements of an array of one kind; undefined if any is of another kind. */
function toEach<T>(
  value: unknown,
  convert: (item: unknown) => T | undefined,
): readonly T[] | undefined {
  if (!Array.isArray(value)) return undefined
  const items = value.map(convert).filter((item) => item !== undefined)
  return items.length === value.length ? items : undefined
}

/** A page of plants; undefined for any other value. */
export function toPage(value: unknown): PlantPage | undefined {
  const { plants, next } = fieldsOf(value)
  const items = toEach(plants, toNewPlant)
  return items && isTextOrNull(next) ? { plants: items, next } : undefined
}

function toTagCount(value: unknown): TagCount | undefined {
  const { tag, plants } = fieldsOf(value)
  return typeof tag === 'string' && typeof plants === 'number' ? { tag, plants } : undefined
}

/** A page of tags; undefined for any other value. */
export function toTagPage(value: unknown): TagPage | undefined {
  const { next, ...rest } = fieldsOf(value)
  const tags = toEach(rest.tags, toTagCount)
  return tags && isTextOrNull(next) ? { tags, next } : undefined
}

const ACTIONS = ['create', 'replace', 'patch', 'delete'] as const

const toPlantOrNull = (value: unknown) => (value === null ? null : toPlant(value))
const isTextOrNull = (value: unknown): value is string | null =>
  value === null || typeof value === 'string'

/** A change of the change log; undefined for any other value. */
export function toChange(value: unknown): Change | undefined {
  const { cursor, at, action, id, token, address, request, ...plants } = fieldsOf(value)
  const actionName = ACTIONS.find((name) => name === action)
  const before = toPlantOrNull(plants.before)
  const after = toPlantOrNull(plants.after)
  if (typeof cursor !== 'string' || typeof at !== 'string' || !actionName) return undefined
  if (typeof id !== 'string' || !DIGITS.test(id)) return undefined
  if (before === undefined || after === undefined) return undefined
  if (!isTextOrNull(token) || !isTextOrNull(address) || !isTextOrNull(request)) return undefined
  return { cursor, at, action: actionName, id: BigInt(id), before, after, token, address, request }
}

/** A page of changes; undefined for any other value. */
export function toChangePage(value: unknown): ChangePage | undefined {
  const { next, ...rest } = fieldsOf(value)
  const changes = toEach(rest.changes, toChange)
  return changes && typeof next === 'string' ? { changes, next } : undefined
}

/** A page of a plant's changes; undefined for any other value. */
export function toHistoryPage(value: unknown): HistoryPage | undefined {
  const { next, ...rest } = fieldsOf(value)
  const changes = toEach(rest.changes, toChange)
  return changes && isTextOrNull(next) ? { changes, next } : undefined
}

/** The number of plants created by a batch; undefined for any other value. */
export function toCreated(value: unknown): Created | undefined {
  const { created } = fieldsOf(value)
  return typeof created === 'number' ? { created } : undefined
}

/** The numbers of plants that a batch created, replaced and left as they were; undefined if the value does not say. */
export function toPutCounts(value: unknown): PutCounts | undefined {
  const { created, replaced, unchanged } = fieldsOf(value)
  if (typeof created !== 'number' || typeof replaced !== 'number') return undefined
  return typeof unchanged === 'number' ? { created, replaced, unchanged } : undefined
}

function toId(value: unknown): { readonly id: bigint } | undefined {
  const { id } = fieldsOf(value)
  return typeof id === 'string' && DIGITS.test(id) ? { id: BigInt(id) } : undefined
}

/** The result of a batch of deletes; undefined for any other value. */
export function toDeleted(value: unknown): Deleted | undefined {
  const { deleted, ...rest } = fieldsOf(value)
  const changed = toEach(rest.changed, toId)
  const missing = toEach(rest.missing, toId)
  return typeof deleted === 'number' && changed && missing
    ? { deleted, changed, missing }
    : undefined
}

/** The result of a batch of patches; undefined for any other value. */
export function toPatched(value: unknown): Patched | undefined {
  const { created, patched, unchanged, ...rest } = fieldsOf(value)
  const changed = toEach(rest.changed, toId)
  const missing = toEach(rest.missing, toId)
  if (typeof created !== 'number' || typeof patched !== 'number') return undefined
  return typeof unchanged === 'number' && changed && missing
    ? { created, patched, unchanged, changed, missing }
    : undefined
}

const SCOPES = ['read', 'write'] as const

/** The rights of a token; undefined for any other value. */
export function toOwnToken(value: unknown): OwnToken | undefined {
  const { name, expires, changeLog, ...rest } = fieldsOf(value)
  const scope = SCOPES.find((candidate) => candidate === rest.scope)
  if (typeof name !== 'string' || !scope || typeof changeLog !== 'boolean') return undefined
  if (expires === undefined) return { name, scope, changeLog }
  return typeof expires === 'string' ? { name, scope, expires, changeLog } : undefined
}

const HEALTH: readonly Health[] = [{ status: 'ok' }, { status: 'damaged' }, { status: 'behind' }]

/** The health of the service; undefined for any other value. */
export function toHealth(value: unknown): Health | undefined {
  const { status } = fieldsOf(value)
  return HEALTH.find((health) => health.status === status)
}

/** The state of the service; undefined for any other value. */
export function toStatus(value: unknown): Status | undefined {
  const { version, engine, writable } = fieldsOf(value)
  const isStatus =
    typeof version === 'string' && typeof engine === 'string' && typeof writable === 'boolean'
  return isStatus ? (value as Status) : undefined
}

/** The digits of an id. Throws a TypeError for anything but a bigint: a number may have been rounded already. */
export function digitsOf(id: bigint): string {
  if (typeof id !== 'bigint') throw new TypeError('an id must be a bigint, such as 1n')
  return String(id)
}

// A value that is not a string becomes null, which the service refuses.
const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null)

/** A plant as JSON text, even for an object with wrong fields. An undefined text is left out. */
export function plantText(plant: NewPlant): string {
  const fields: Writable<PlantChange> = {}
  for (const name of OPTIONAL_TEXTS) {
    if (plant[name] !== undefined) fields[name] = textOrNull(plant[name])
  }
  const texts = JSON.stringify({ name: textOrNull(plant.name), ...fields })
  return `{"id":${digitsOf(plant.id)},${texts.slice(1)}`
}

/** The fields to change as JSON text, and no others. */
export function changeText(change: PlantChange): string {
  const texts = ['name' as const, ...OPTIONAL_TEXTS].map((name) => [name, change[name]])
  return JSON.stringify(Object.fromEntries(texts))
}

/** A change of a plant in a batch as JSON text. */
export function updateText({ id, was, ...change }: PlantUpdate): string {
  const condition = was === undefined ? '' : `,"was":${changeText(was)}`
  const texts = changeText(change).slice(1)
  return `{"id":${digitsOf(id)}${condition}${texts === '}' ? '' : ','}${texts}`
}
