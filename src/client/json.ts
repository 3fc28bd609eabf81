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

/** A plant as a create returns it; undefined for any other value. */
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

/** Reads a value of one kind; undefined for any other value. */
type Reader<T> = (value: unknown) => T | undefined

const text: Reader<string> = (value) => (typeof value === 'string' ? value : undefined)
const number: Reader<number> = (value) => (typeof value === 'number' ? value : undefined)
const flag: Reader<boolean> = (value) => (typeof value === 'boolean' ? value : undefined)
const id: Reader<bigint> = (value) =>
  typeof value === 'string' && DIGITS.test(value) ? BigInt(value) : undefined
const orNull =
  <T>(read: Reader<T>): Reader<T | null> =>
  (value) =>
    value === null ? null : read(value)
const oneOf =
  <T extends string>(...texts: readonly T[]): Reader<T> =>
  (value) =>
    texts.find((each) => each === value)

const listOf =
  <T>(read: Reader<T>): Reader<readonly T[]> =>
  (value) => {
    if (!Array.isArray(value)) return undefined
    const items = value.map(read).filter((item) => item !== undefined)
    return items.length === value.length ? items : undefined
  }

/** Reads an object with all of these fields. */
const objectOf =
  <T extends object>(readers: { readonly [Name in keyof T]: Reader<T[Name]> }): Reader<T> =>
  (value) => {
    const fields = fieldsOf(value)
    const result: Partial<T> = {}
    for (const name in readers) {
      const field = readers[name](fields[name])
      if (field === undefined) return undefined
      result[name] = field
    }
    return result as T
  }

const toId = objectOf({ id })

/** A plant with its id. */
export function toNewPlant(value: unknown): NewPlant | undefined {
  const key = toId(value)
  const plant = toPlant(value)
  return key && plant && { ...key, ...plant }
}

export const toPage = objectOf<PlantPage>({ plants: listOf(toNewPlant), next: orNull(text) })

export const toTagPage = objectOf<TagPage>({
  tags: listOf(objectOf<TagCount>({ tag: text, plants: number })),
  next: orNull(text),
})

export const toChange = objectOf<Change>({
  cursor: text,
  at: text,
  action: oneOf('create', 'replace', 'patch', 'delete'),
  id,
  before: orNull(toPlant),
  after: orNull(toPlant),
  token: orNull(text),
  address: orNull(text),
  request: orNull(text),
})

export const toChangePage = objectOf<ChangePage>({ changes: listOf(toChange), next: text })
export const toHistoryPage = objectOf<HistoryPage>({
  changes: listOf(toChange),
  next: orNull(text),
})

export const toCreated = objectOf<Created>({ created: number })
export const toPutCounts = objectOf<PutCounts>({
  created: number,
  replaced: number,
  unchanged: number,
})
export const toDeleted = objectOf<Deleted>({
  deleted: number,
  conflicts: listOf(toId),
  missing: listOf(toId),
})
export const toPatched = objectOf<Patched>({
  created: number,
  patched: number,
  unchanged: number,
  conflicts: listOf(toId),
  missing: listOf(toId),
})

const toLastingToken = objectOf<OwnToken>({
  name: text,
  scope: oneOf('read', 'write'),
  changeLog: flag,
})

/** The rights of a token. */
export function toOwnToken(value: unknown): OwnToken | undefined {
  const token = toLastingToken(value)
  const { expires } = fieldsOf(value)
  if (expires === undefined) return token
  return token && typeof expires === 'string' ? { ...token, expires } : undefined
}

export const toHealth = objectOf<Health>({ status: oneOf('ok', 'damaged', 'behind') })

/** The state of the service; undefined for any other value. The rest is not checked: services of other versions differ. */
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

// A text that is undefined in a guard must be absent from the plant. An id is sent as text, for the service to refuse.
const guardValue = (_: string, value: unknown) =>
  typeof value === 'bigint' ? String(value) : (value ?? null)

/** A change as JSON text. An unknown field is sent too: the service refuses it. */
export function changeText(change: Partial<PlantUpdate>): string {
  const { id, was, ...fields } = change
  if ('was' in change && !was) throw new TypeError('no value for was: leave it out, or name fields')
  const parts = [
    id === undefined ? '' : `"id":${digitsOf(id)}`,
    was === undefined ? '' : `"was":${JSON.stringify(was, guardValue)}`,
    JSON.stringify(fields).slice(1, -1),
  ]
  return `{${parts.filter((part) => part !== '').join(',')}}`
}
