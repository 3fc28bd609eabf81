// The shape of a JSON document, by its first value and the lists in it.

import { OpenError } from '../../errors'
import { parseExactly } from '../../plant/json'
import type { Format } from '../format'
import { columnsOf, isObject, lastKey } from '../header'
import { isKnownHeading } from '../headings'
import { Question } from '../question'
import { showText } from '../row'
import { JsonScanner } from './scanner'

/** The kind of a list's values, by the first of them. */
type Kind = 'objects' | 'arrays' | 'texts'
const KINDS: Readonly<Record<string, Kind>> = { '{': 'objects', '[': 'arrays', '"': 'texts' }

/** An array that is in no other: the keys that lead to it, the number of its values of this kind, and the first of them. */
type List = {
  readonly path: readonly string[]
  kind: Kind | undefined
  readonly sample: unknown[]
  count: number
}

/** An object that is in no array: the keys that lead to it, and its members. */
type Group = { readonly path: readonly string[]; count: number; areObjects: boolean }

/** The findings of a first look at a document. */
type Survey = {
  /** The reason why its first value cannot be read. */
  readonly problem: string | null
  /** The line in which its first value ends. */
  readonly endLine: number
  /** The line in which a second value begins, or null if there is none. */
  readonly nextLine: number | null
  readonly lists: readonly List[]
  /** The outermost comes first. */
  readonly groups: readonly Group[]
  /** The keys of the first value, and the first character of the value of each. */
  readonly keys: ReadonlyMap<string, string>
}

/** A list of rows by its path. `header`: the names of the columns of arrays, if they are elsewhere in the document. */
type ListShape = { readonly list: string; readonly header: readonly string[] | null }

/** The shape of a document: one value a line, values one after another, or the elements of lists. */
export type Shape = 'lines' | 'values' | ListShape

/** The maximum number of lists, keys and objects that are looked at. */
const MAX_PARTS = 1000
/** The maximum number of lists that a message names. */
const MAX_NAMED = 12
/** The characters of the first values of all lists that are looked at. */
const SAMPLE_CHARACTERS = 1_000_000

/** A path as `--list` takes it. */
const showPath = (path: readonly string[]): string => path.join('.')

/** Returns a test for paths of keys that match a pattern: keys joined by dots, with `*` for any key. */
export function createPathTest(pattern: string): (path: readonly string[]) => boolean {
  const keys = pattern.split('.')
  return (path) =>
    (path.length === keys.length &&
      keys.every((key, index) => key === '*' || key === path[index])) ||
    showPath(path) === pattern
}

function tryParse(text: string): unknown {
  try {
    return parseExactly(text)
  } catch {
    return null
  }
}

/** Reads a document up to its second value. */
async function survey(text: AsyncIterable<string>, limit: number): Promise<Survey> {
  const lists: List[] = []
  // By the path of each, which is one array.
  const groups = new Map<readonly string[], Group>()
  const keys = new Map<string, string>()
  let remaining = SAMPLE_CHARACTERS
  let list: List | null = null
  let endLine = 0
  const scanner = new JsonScanner(
    {
      isRows(path, isArray) {
        if (!isArray) return false
        list = { path, kind: undefined, sample: [], count: 0 }
        if (lists.length < MAX_PARTS) lists.push(list)
        return true
      },
      onRow(_, row) {
        const kind = KINDS[row[0] ?? '']
        if (!list || !kind) return
        list.kind ??= kind
        if (list.kind !== kind) return
        list.count += 1
        remaining -= row.length
        if (remaining > 0) list.sample.push(tryParse(row))
      },
      onMember(path, key, first) {
        if (path.length === 0 && keys.size < MAX_PARTS) keys.set(key, first)
        const group = groups.get(path) ?? { path, count: 0, areObjects: true }
        if (group.count === 0 && groups.size < MAX_PARTS) groups.set(path, group)
        group.count += 1
        group.areObjects &&= first === '{'
      },
      onEnd: (line) => {
        endLine = line
      },
    },
    limit,
  )
  const resultOf = (problem: string | null, nextLine: number | null): Survey => ({
    problem,
    endLine,
    nextLine,
    lists,
    groups: [...groups.values()],
    keys,
  })
  for await (const part of text) {
    const fault = scanner.read(part)
    if (fault && scanner.values > 0) return resultOf(null, fault.line)
    if (fault) return resultOf(`line ${fault.line}: ${fault.stop}`, null)
  }
  const fault = scanner.end()
  return resultOf(fault ? `line ${fault.line}: ${fault.stop}` : null, null)
}

/** The pattern that matches several paths, with `*` where their keys differ, or null if they are not equally deep. */
function patternOf(paths: readonly (readonly string[])[]): string | null {
  const [first = []] = paths
  if (paths.length < 2 || paths.some(({ length }) => length !== first.length)) return null
  return showPath(
    first.map((key, index) => (paths.every((path) => path[index] === key) ? key : '*')),
  )
}

/** Asks for the list with the plants. */
function askForList(lists: readonly Pick<List, 'path' | 'count'>[]): never {
  const all = patternOf(lists.map(({ path }) => path))
  const paths = lists.map(({ path }) => showPath(path))
  const names = lists.map(({ count }, index) => `${showText(paths[index] ?? '')} (${count})`)
  const more = names.length - MAX_NAMED
  const shown = more > 0 ? [...names.slice(0, MAX_NAMED), `${more} more`] : names
  const choices = all === null || paths.includes(all) ? paths : [all, ...paths]
  throw new Question(
    `the plants may be in the list ${shown.join(' or ')}${all === null ? '' : `, or in all: ${showText(all)}`}`,
    { list: choices.length === 1 ? (choices[0] ?? null) : null },
    null,
    choices,
  )
}

/** The columns of a list of arrays, from a list of as many texts, or null if there is none. */
function headerOf({ kind, sample: [first] }: List, lists: readonly List[]) {
  if (kind !== 'arrays' || !Array.isArray(first)) return null
  const names = lists.find(({ kind, count }) => kind === 'texts' && count === first.length)
  return (names?.sample as readonly string[] | undefined) ?? null
}

/** True if a list describes the columns of another one: it has their names. */
function isDescription({ sample }: List, { sample: [row] }: List): boolean {
  const values = sample.flatMap((value) => (isObject(value) ? Object.values(value) : []))
  return isObject(row) && columnsOf(row).filter((key) => values.includes(lastKey(key))).length > 1
}

/** True for a list that may have rows: objects, or arrays that have texts. */
const isTable = ({ kind, sample: [first] }: List): boolean =>
  kind === 'objects' ||
  (kind === 'arrays' && Array.isArray(first) && first.some((cell) => typeof cell === 'string'))

/** The shape of a document that is one object. */
function shapeOfObject({ groups, keys, lists }: Survey): Shape {
  const isPlant = ['id', 'name'].every((key) => /["\d-]/.test(keys.get(key) ?? ''))
  const shapeOf = (list: List) => ({ list: showPath(list.path), header: headerOf(list, lists) })
  const all = lists.filter(isTable)
  const tables = all.filter((list) => !all.some((row) => isDescription(list, row)))
  const headed = tables.filter((list) => headerOf(list, lists))
  const [table, otherTable] = headed.length === 1 && !isPlant ? headed : tables
  if (table && (!otherTable || tables.some(({ kind }) => kind === 'objects'))) {
    if (otherTable || (isPlant && table.kind === 'objects')) askForList(tables)
    if (!isPlant) return shapeOf(table)
  }
  const map = groups.find(({ areObjects, count }) => areObjects && count > 1)
  if (map) askForList([{ path: [...map.path, '*'], count: map.count }])
  // The lists of a plant are its other names or uses.
  const isRow = [...keys].some(([key, first]) => first === '"' && isKnownHeading(key))
  // A list of texts would lose what belongs to them in other lists.
  const [list, otherList] = lists
  if (!isPlant && !isRow && list?.kind === 'texts' && !otherList) askForList(lists)
  return 'values'
}

/**
 * Decides how a document is read, by its first character, the line of that, and its first value. Throws an `OpenError` if it is not JSON, or a {@link Question} if its rows are not certain.
 */
export async function findShape(
  format: Format,
  { first, line }: { readonly first: string; readonly line: number },
  text: AsyncIterable<string>,
  limit: number,
): Promise<Shape> {
  if (first === '[') return { list: '', header: null }
  if (first !== '{') {
    if (format === 'ndjson') return 'lines'
    throw new OpenError(`not JSON: line ${line} begins with ${showText(first)}`)
  }
  const document = await survey(text, limit)
  const { problem, endLine, nextLine } = document
  if (problem !== null) {
    if (format === 'ndjson' && problem.startsWith(`line ${line}:`)) return 'lines'
    throw new OpenError(`not JSON: ${problem}`)
  }
  if (nextLine === null) return format === 'ndjson' ? 'values' : shapeOfObject(document)
  return endLine === line && nextLine > endLine ? 'lines' : 'values'
}
