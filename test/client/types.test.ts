// The types of the client match /openapi.json. The tests of the client check that values match their types.
import { beforeAll, expect, test } from 'bun:test'
import { createClient, type Failure } from '../../src/client/client'
import { ERRORS } from '../../src/client/contract'
import { parseJson, plantText, toNewPlant } from '../../src/client/json'
import type {
  Change,
  ChangePage,
  Created,
  Deleted,
  Health,
  HistoryPage,
  ListQuery,
  NewPlant,
  OwnToken,
  Patched,
  Plant,
  PlantChange,
  PlantPage,
  PlantUpdate,
  PutCounts,
  Status,
  TagPage,
} from '../../src/client/types'
import type { PlantList } from '../../src/http/routes/schemas'
import { ofOptionalTexts } from '../../src/plant/plant'
import { ownDaemon } from '../harness/own-daemon'

type Operation = {
  readonly operationId: string
  readonly responses: object
}
type Schema = { readonly properties?: object; readonly required?: readonly string[] }
type Description = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** A record of a type's fields, which compiles only if every field is present. */
type Fields<T> = { readonly [K in keyof T]-?: undefined extends T[K] ? 'optional' : 'required' }

const { daemon } = ownDaemon()
// The client has no method for these.
const OTHERS = ['openapi', 'metrics']
let schemasOfAll: Description['components']['schemas'] = {}
let operations: Operation[] = []
beforeAll(async () => {
  const response = await daemon.fetch('/openapi.json')
  const { paths, components } = (await response.json()) as Description
  schemasOfAll = components.schemas
  operations = Object.values(paths)
    .flatMap((path) => Object.values(path))
    .filter(({ operationId }) => !OTHERS.includes(operationId))
})

const fieldsOf = ({ properties = {}, required = [] }: Schema) =>
  Object.fromEntries(
    Object.keys(properties).map((name) => [
      name,
      required.includes(name) ? 'required' : 'optional',
    ]),
  )

const optional = ofOptionalTexts(() => 'optional' as const)
const plant: Fields<Plant> = { name: 'required', ...optional }
const newPlant: Fields<NewPlant> = { ...plant, id: 'required' }
const change: Fields<PlantChange> = { name: 'optional', ...optional }
const error: Fields<Pick<Failure, 'error' | 'message'>> = {
  error: 'required',
  message: 'required',
}
const page: Fields<PlantPage> = { plants: 'required', next: 'required' }
const created: Fields<Created> = { created: 'required' }
const put: Fields<PutCounts> = {
  created: 'required',
  replaced: 'required',
  unchanged: 'required',
}
const deleted: Fields<Deleted> = {
  deleted: 'required',
  conflicts: 'required',
  missing: 'required',
}
const update: Fields<PlantUpdate> = { ...change, id: 'required', was: 'optional' }
const patched: Fields<Patched> = {
  created: 'required',
  patched: 'required',
  unchanged: 'required',
  conflicts: 'required',
  missing: 'required',
}
const tags: Fields<TagPage> = { tags: 'required', next: 'required' }
const token: Fields<OwnToken> = {
  name: 'required',
  scope: 'required',
  expires: 'optional',
  changeLog: 'required',
}
const health: Fields<Health> = { status: 'required' }
const status: Fields<Status> = {
  version: 'required',
  commit: 'required',
  engine: 'required',
  database: 'required',
  plants: 'required',
  readOnly: 'required',
  writable: 'required',
  problem: 'required',
  replica: 'required',
  damaged: 'required',
  uptimeSeconds: 'required',
  lastBackup: 'required',
  changeLog: 'required',
  followers: 'required',
}
const logged: Fields<Change> = {
  cursor: 'required',
  at: 'required',
  action: 'required',
  id: 'required',
  before: 'required',
  after: 'required',
  token: 'required',
  address: 'required',
  request: 'required',
}
const changes: Fields<ChangePage | HistoryPage> = { changes: 'required', next: 'required' }

test('the types of the client have the fields of the schemas', () => {
  const { Cursor, LogCursor, ...schemas } = schemasOfAll

  const found = Object.entries(schemas).map(([name, schema]) => [name, fieldsOf(schema)])

  expect(Object.fromEntries(found)).toEqual({
    Plant: plant,
    NewPlant: newPlant,
    PlantPatch: { ...change, id: 'optional' },
    Replacement: { ...newPlant, id: 'optional' },
    PlantBatch: { plants: 'required' },
    PlantPage: page,
    Change: logged,
    ChangePage: changes,
    HistoryPage: changes,
    Created: created,
    PutCounts: put,
    PlantUpdate: update,
    PlantUpdates: { plants: 'required' },
    StoredFields: change,
    Patched: patched,
    Deleted: deleted,
    TagPage: tags,
    OwnToken: token,
    Health: health,
    Status: status,
    Error: error,
  })
})

/** True if two types have the same members. */
type Same<One, Other> = [One, Other] extends [Other, One] ? true : false

test('every operation is a method, and the query of a list has the same parameters', () => {
  // The assignment compiles only if this holds.
  const isSame: Same<keyof ListQuery, keyof PlantList> = true
  const { plants, createAll, changes, follow, ...methods } = createClient({
    url: daemon.url,
    token: '',
  })

  expect(isSame).toBeTrue()
  expect(operations.map((operation) => operation.operationId).sort()).toEqual(
    Object.keys(methods).sort(),
  )
})

test('the operations describe every error but those of another path or method', () => {
  const names = JSON.stringify(operations.map((operation) => operation.responses)).matchAll(
    /"(\d{5})":/g,
  )

  const found = new Set(Array.from(names, ([, number]) => Number(number)))

  const elsewhere: number[] = [ERRORS['no such path'], ERRORS['method not allowed']]
  const known = new Set(Object.values(ERRORS).filter((number) => !elsewhere.includes(number)))
  expect([...found].sort()).toEqual([...known])
})

test('every field of a plant is written and read', () => {
  const plant: Required<NewPlant> = { id: 1n, name: 'a', ...ofOptionalTexts((name) => `a ${name}`) }

  expect(toNewPlant(parseJson(plantText(plant)))).toEqual(plant)
})
