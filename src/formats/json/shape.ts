// The shape of a JSON document, by its first value and its lists of objects.

import { OpenError } from '../../errors'
import type { Advice } from '../advice'
import type { Format } from '../format'
import { isKnownHeading } from '../headings'
import { showText } from '../row'
import { JsonScanner } from './scanner'

/** The kind of a list's values, by the first of them. */
type Kind = 'objects' | 'arrays' | 'texts'
const KINDS: Readonly<Record<string, Kind>> = { '{': 'objects', '[': 'arrays', '"': 'texts' }

/** A list within a document: the keys that lead to it, and the number of its values of this kind. */
type List = { readonly path: readonly string[]; readonly kind: Kind; count: number }

/** An object within a document: the keys that lead to it, and its members. */
type Group = { readonly path: readonly string[]; count: number; areObjects: boolean }

/** The findings of a first look at a document. */
type Survey = {
  /** The reason why its first value cannot be read. */
  readonly problem: string | null
  /** The line in which its first value ends. */
  readonly endLine: number
  /** The line in which a second value begins; null: there is none. */
  readonly nextLine: number | null
  readonly lists: readonly List[]
  /** The only array outside of others, if it and the keys that lead to it are all that the document has, but for null. */
  readonly soleArray: readonly string[] | null
  /** The objects that are not within arrays; the outermost comes first. */
  readonly groups: readonly Group[]
  /** The keys of the first value, and the first character of the value of each. */
  readonly keys: ReadonlyMap<string, string>
}

/** The error of a document with several lists, none of them named: their paths, and one pattern for all, or null. */
export class ListsError extends OpenError {
  constructor(
    message: string,
    readonly paths: readonly string[],
    readonly all: string | null,
  ) {
    super(message)
  }
}

/** The shape of a document: one value a line, values one after another, or the elements of lists. */
export type Shape = 'lines' | 'values' | { readonly list: string }

const MAX_LISTS = 1000
const MAX_KEYS = 1000
const MAX_GROUPS = 1000
const MAX_NAMED = 12

/** A path as `--list` takes it. */
const showPath = (path: readonly string[]): string => path.join('.')

/** True if a path of keys matches a pattern: keys joined by dots, with `*` for any key. */
export function matchesPath(path: readonly string[], pattern: string): boolean {
  if (showPath(path) === pattern) return true
  const keys = pattern.split('.')
  return (
    keys.length === path.length && keys.every((key, index) => key === '*' || key === path[index])
  )
}

/** Reads a document up to its second value. `text` begins in `line`. */
async function survey(text: AsyncIterable<string>, line: number, limit: number): Promise<Survey> {
  const lists: List[] = []
  // By the path of each, which is one array.
  const groups = new Map<readonly string[], Group>()
  const keys = new Map<string, string>()
  let members = 0
  let lastArray: readonly string[] | null = null
  let path: readonly string[] = []
  let list: List | null = null
  let endLine = line
  const scanner = new JsonScanner(
    {
      isRows(newPath, isArray) {
        path = newPath
        list = null
        if (isArray) lastArray = newPath
        return isArray
      },
      onRow(_, row) {
        const kind = KINDS[row[0] ?? '']
        if (!kind || (list && list.kind !== kind)) return
        if (!list) {
          list = { path, kind, count: 0 }
          if (lists.length < MAX_LISTS) lists.push(list)
        }
        list.count += 1
      },
      onMember(memberPath, key, first) {
        if (first !== 'n') members += 1
        if (memberPath.length === 0 && keys.size < MAX_KEYS) keys.set(key, first)
        const group = groups.get(memberPath) ?? { path: memberPath, count: 0, areObjects: true }
        if (group.count === 0 && groups.size < MAX_GROUPS) groups.set(memberPath, group)
        group.count += 1
        group.areObjects &&= first === '{'
      },
      onEnd: (line) => {
        endLine = line
      },
    },
    limit,
    line,
  )
  const resultOf = (problem: string | null, nextLine: number | null): Survey => ({
    problem,
    endLine,
    nextLine,
    lists,
    soleArray: lastArray !== null && members === lastArray.length ? lastArray : null,
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

/** True for an array whose first value is a text. */
async function beginsWithText(text: AsyncIterable<string>): Promise<boolean> {
  for await (const part of text) {
    const [value] = part.replace(/^\s*\[/, '').trimStart()
    if (value !== undefined) return value === '"'
  }
  return false
}

/** The pattern that matches several paths, with `*` where their keys differ; null: they are not equally deep. */
function patternOf(paths: readonly (readonly string[])[]): string | null {
  const [first = []] = paths
  if (paths.some(({ length }) => length !== first.length)) return null
  return showPath(
    first.map((key, index) => (paths.every((path) => path[index] === key) ? key : '*')),
  )
}

function listLists(lists: readonly List[]): string {
  const names = lists
    .slice(0, MAX_NAMED)
    .map(({ path, count }) => `${showText(showPath(path))} (${count})`)
  const more = lists.length - names.length
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ')
}

/** Refuses a document with several lists, or with one that may not be of plants. */
function refuseLists(what: string, lists: readonly List[], advice: Advice): never {
  const all = lists.length > 1 ? patternOf(lists.map(({ path }) => path)) : null
  const paths = lists.map(({ path }) => showPath(path))
  throw new ListsError(`${what}: ${listLists(lists)}; ${advice.lists(paths, all)}`, paths, all)
}

/** The shape of a document that is one object. */
function shapeOfObject(document: Survey, format: Format, advice: Advice): Shape {
  const { groups, keys, soleArray } = document
  const ofKind = (kind: Kind) => document.lists.filter((list) => list.kind === kind)
  const objects = ofKind('objects')
  const isPlant = ['id', 'name'].every((key) => /["\d-]/.test(keys.get(key) ?? ''))
  if (format === 'ndjson') return 'values'
  const [list] = objects
  if (list && objects.length === 1 && !isPlant) return { list: showPath(list.path) }
  if (list) {
    const what = isPlant ? 'one object with an id and a name, and' : 'an object with'
    const many = objects.length === 1 ? 'a list' : `${objects.length} lists`
    return refuseLists(`${what} ${many} of objects`, objects, advice)
  }
  const map = groups.find(({ areObjects, count }) => areObjects && count > 1)
  if (map) {
    const depth = map.path.length
    const members = groups.filter(
      ({ path }) => path.length === depth + 1 && map.path.every((key, at) => path[at] === key),
    )
    // Either may be the plants: an object of them for each bed, or their parts.
    if (members.length > 0 && members.every(({ areObjects }) => areObjects)) {
      const inner = members.reduce((sum, { count }) => sum + count, 0)
      const listOf = (path: readonly string[], count: number) =>
        ({ path: [...map.path, ...path], kind: 'objects', count }) as const
      const lists = [listOf(['*', '*'], inner), listOf(['*'], map.count)]
      return refuseLists('objects within objects', lists, advice)
    }
    const all = showPath([...map.path, '*'])
    throw new ListsError(`an object of ${map.count} objects; ${advice.lists([], all)}`, [], all)
  }
  // The lists of a plant are its other names or uses.
  if (isPlant || [...keys].some(([key, first]) => first === '"' && isKnownHeading(key)))
    return 'values'
  const [table, other] = ofKind('arrays')
  if (table && !other) return { list: showPath(table.path) }
  // A list of texts would lose what belongs to them in the others.
  const columns = [...keys].filter(([key, first]) => first === '[' && isKnownHeading(key))
  if (columns.length > 1) {
    throw new OpenError('a list for each column; save it as one object for each row, or as CSV')
  }
  const texts = ofKind('texts')
  if (texts.length > 0) return refuseLists('an object with texts', texts, advice)
  // Such as {"plants":[],"next":null}, the answer of a store without plants.
  return soleArray === null ? 'values' : { list: showPath(soleArray) }
}

/**
 * Decides how a document is read, by its first value. `first`: its first character; `text`: the document from there, which
 * begins in `line`. Throws an `OpenError` if the document is not JSON, or has several lists.
 */
export async function findShape(
  format: Format,
  first: string,
  text: () => AsyncIterable<string>,
  line: number,
  limit: number,
  advice: Advice,
): Promise<Shape> {
  if (first === '[') {
    const isTexts = await beginsWithText(text())
    if (isTexts && (await survey(text(), line, limit)).nextLine !== null) {
      throw new OpenError('arrays one after another; save them as one array, or as CSV')
    }
    return { list: '' }
  }
  if (first !== '{') {
    if (format === 'ndjson') return 'lines'
    throw new OpenError(`not JSON: line ${line} begins with ${showText(first)}`)
  }
  const document = await survey(text(), line, limit)
  const { problem, endLine, nextLine } = document
  if (problem !== null) {
    if (format === 'ndjson' && problem.startsWith(`line ${line}:`)) return 'lines'
    throw new OpenError(`not JSON: ${problem}`)
  }
  if (nextLine === null) return shapeOfObject(document, format, advice)
  return endLine === line && nextLine > endLine ? 'lines' : 'values'
}
