// The shape of a JSON document: what its first value says, and where its lists of objects are.

import { OpenError } from '../../errors'
import type { Format } from '../format'
import { showText } from '../row'
import type { Words } from '../words'
import { JsonScanner } from './scanner'

/** A list of objects within a document: the keys that lead to it, and its length. */
type List = { readonly path: readonly string[]; count: number }

/** The findings of a first look at a document. */
type Survey = {
  /** The reason why its first value cannot be read. */
  readonly problem: string | null
  /** The line in which its first value ends. */
  readonly endLine: number
  /** The line in which a second value begins; null: there is none. */
  readonly nextLine: number | null
  readonly lists: readonly List[]
  /** The keys of the first value, and the first character of the value of each. */
  readonly keys: ReadonlyMap<string, string>
}

/** A document has several lists, and none is named: the paths that name one, and the one that names all (null: none does). */
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
const MAX_NAMED = 12

/** A path as `--list` takes it. */
const showPath = (path: readonly string[]): string => path.join('.')

/** True if a path of keys is named by a text: keys joined by dots, with `*` for any key. */
export function isAt(path: readonly string[], list: string): boolean {
  if (showPath(path) === list) return true
  const wanted = list.split('.')
  return (
    wanted.length === path.length && wanted.every((it, index) => it === '*' || it === path[index])
  )
}

/** Reads a document up to its second value. `text` begins in `line`. */
async function survey(text: AsyncIterable<string>, line: number, limit: number): Promise<Survey> {
  const lists: List[] = []
  const keys = new Map<string, string>()
  let list: List = { path: [], count: 0 }
  let endLine = line
  const scanner = new JsonScanner(
    {
      isRows(path, isArray) {
        if (isArray) list = { path, count: 0 }
        return isArray
      },
      onRow(_, row) {
        if (!row.startsWith('{')) return
        list.count += 1
        if (list.count === 1 && lists.length < MAX_LISTS) lists.push(list)
      },
      onMember(key, first) {
        if (keys.size < MAX_KEYS) keys.set(key, first)
      },
      onEnd: (it) => {
        endLine = it
      },
    },
    limit,
    line,
  )
  const found = (problem: string | null, nextLine: number | null): Survey => ({
    problem,
    endLine,
    nextLine,
    lists,
    keys,
  })
  for await (const part of text) {
    const fault = scanner.read(part)
    if (fault && scanner.values > 0) return found(null, fault.line)
    if (fault) return found(`line ${fault.line}: ${fault.stop}`, null)
  }
  const fault = scanner.end()
  return found(fault ? `line ${fault.line}: ${fault.stop}` : null, null)
}

/** The one text that names several paths, with `*` where their keys differ; null: they are not equally deep. */
function patternOf(paths: readonly (readonly string[])[]): string | null {
  const [first = []] = paths
  if (paths.some(({ length }) => length !== first.length)) return null
  return showPath(first.map((key, index) => (paths.every((it) => it[index] === key) ? key : '*')))
}

function listLists(lists: readonly List[]): string {
  const shown = lists
    .slice(0, MAX_NAMED)
    .map(({ path, count }) => `${showText(showPath(path))} (${count})`)
  const more = lists.length - shown.length
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ')
}

/** The shape of a document that is one object. */
function shapeOfObject({ lists, keys }: Survey, format: Format, words: Words): Shape {
  const isMap = keys.size > 1 && [...keys.values()].every((first) => first === '{')
  const isPlant = ['id', 'name'].every((key) => /["\d-]/.test(keys.get(key) ?? ''))
  if (format === 'ndjson' || (lists.length === 0 && !isMap)) return 'values'
  const [list] = lists
  if (list && lists.length === 1 && !isPlant) return { list: showPath(list.path) }
  if (isMap && lists.length === 0) {
    throw new ListsError(`one object of ${keys.size} objects; ${words.lists('*')}`, [], '*')
  }
  const all = lists.length > 1 ? patternOf(lists.map(({ path }) => path)) : null
  const what = isPlant ? 'one object with an id and a name, and' : 'an object with'
  const many = lists.length === 1 ? 'a list' : `${lists.length} lists`
  throw new ListsError(
    `${what} ${many} of objects: ${listLists(lists)}; ${words.lists(all)}`,
    lists.map(({ path }) => showPath(path)),
    all,
  )
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
  words: Words,
): Promise<Shape> {
  if (first === '[') return { list: '' }
  if (first !== '{') {
    if (format === 'ndjson') return 'lines'
    throw new OpenError(`not JSON: line ${line} begins with ${showText(first)}`)
  }
  const found = await survey(text(), line, limit)
  const { problem, endLine, nextLine } = found
  if (problem !== null) {
    if (format === 'ndjson' && problem.startsWith(`line ${line}:`)) return 'lines'
    throw new OpenError(`not JSON: ${problem}`)
  }
  if (nextLine === null) return shapeOfObject(found, format, words)
  return endLine === line && nextLine > endLine ? 'lines' : 'values'
}
