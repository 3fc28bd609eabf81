// The SQL of a batch of changes: one statement for creates of distinct ids, a transaction for anything else.

import type { SQL } from 'bun'
import { TEXTS } from '../../plant'
import { type Change, isRequested, type Outcome } from '../change'
import { decide, idsOf, refuseCreate } from '../decide'
import { COLUMNS, type Row, type RowId } from '../row'
import { beginStep, commitStep, LONGEST_PIPELINE, type Step } from './lane'
import { type Net, netOf, overlay } from './overlay'
import { lockRows, selectRows, toRows } from './rows'
import { bigints, type Statement, texts } from './statements'

type Create = readonly ['create', Row]

const EARLIER = Array.from(
  { length: LONGEST_PIPELINE - 1 },
  (_, index) => ` || ';' || split_part(refused, ';', ${index + 1})`,
).join('')

// Rows as one array a column, which are the parameters from `first` on.
const rowsFrom = (first: number): string =>
  `unnest($${first}::bigint[], ${TEXTS.map((_, place) => `$${first + 1 + place}::text[]`)}) AS i (${COLUMNS})`

// `entered` locks the lane: where it is elsewhere, or another backend gets there first, nothing is inserted. The lane keeps
// which ids were refused, in case the answer is lost. Sorted ids, so that two such statements never deadlock.
const CREATE = `WITH entered AS (
    SELECT lane FROM lanes WHERE lane = $1 AND seq = $2::bigint - 1 FOR UPDATE
  ), made AS (
    INSERT INTO plants (${COLUMNS}) SELECT i.* FROM entered, ${rowsFrom(3)}
    ON CONFLICT (id) DO NOTHING RETURNING id
  )
  UPDATE lanes SET seq = $2::bigint, seen_at = now(), refused = coalesce(
      (SELECT string_agg(i::text, ',') FROM unnest($3::bigint[]) i WHERE i NOT IN (SELECT id FROM made)), ''
    )${EARLIER}
  WHERE lane = $1 AND seq = $2::bigint - 1
  RETURNING split_part(refused, ';', 1) AS refused`

const byId = ([a]: Row, [b]: Row): number => {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return BigInt(a) < BigInt(b) ? -1 : 1
}

const columns = (sql: SQL, rows: readonly Row[]) => {
  const ids = rows.map(([id]) => id)
  const ofText = TEXTS.map((_, place) => rows.map(([, ...it]) => it[place] ?? null))
  return [bigints(sql, ids), ...ofText.map((it) => texts(sql, it))]
}

/** Outcomes of a batch; undefined for a create that was refused, and whose plant is gone since: it is to be tried again. */
export type Attempted = readonly (Outcome | undefined)[]

function createStep(changes: readonly Create[]): Step<Attempted> {
  const rows = changes.map(([, row]) => row).sort(byId)

  return {
    isPipelined: true,
    async send(sql, { lane, seq }) {
      const [row] = await sql.unsafe<{ refused: string }[]>(CREATE, [
        lane,
        seq,
        ...columns(sql, rows),
      ])
      return row ? { refused: row.refused } : 'elsewhere'
    },
    async finish(refused, read) {
      if (refused === '') return changes.map(() => null)
      const ids = new Set(refused.split(','))
      const stored = await read((sql) => selectRows(sql, [...ids]))
      return changes.map(([, row]) => {
        if (!ids.has(String(row[0]))) return null
        const other = stored.get(row[0])
        return other && refuseCreate(row, other)
      })
    },
  }
}

const USE = 'UPDATE tokens SET last_used_at = $2 WHERE hash = $1'
const INSERT = `INSERT INTO plants (${COLUMNS}) SELECT i.* FROM ${rowsFrom(1)}`
const UPDATE = `UPDATE plants SET ${TEXTS.map((name) => `${name} = i.${name}`)}
  FROM ${rowsFrom(1)} WHERE plants.id = i.id`
const DELETE = 'DELETE FROM plants WHERE id = ANY($1::bigint[])'

function writesOf(sql: SQL, changes: readonly Change[], it: Net): Statement[] {
  const statements: Statement[] = []
  if (it.inserted.length > 0) {
    statements.push([INSERT, ...columns(sql, it.inserted.toSorted(byId))])
  }
  if (it.updated.length > 0) statements.push([UPDATE, ...columns(sql, it.updated)])
  if (it.deleted.length > 0) statements.push([DELETE, bigints(sql, it.deleted)])
  for (const change of changes) {
    if (change[0] === 'use') statements.push([USE, change[1], change[2]])
  }
  return statements
}

/** A batch of any changes: the rows are locked and read, what comes of it is decided here, the net of it is written. */
function transactionStep(changes: readonly Change[]): Step<Attempted> {
  const ids = new Set<RowId>(changes.filter(isRequested).flatMap(idsOf))
  let outcomes: readonly Outcome[] = []

  return {
    isPipelined: false,
    async send(sql, at) {
      const answers = await beginStep(sql, at, ids.size > 0 ? [lockRows(sql, [...ids])] : [])
      if (!answers) return 'elsewhere'
      const stored = toRows(answers[0])
      const { state, changed } = overlay((id) => stored.get(id) ?? null)
      // Known before the COMMIT, in case its answer is lost.
      outcomes = changes.map((change) => (isRequested(change) ? decide(change, state) : null))
      await commitStep(sql, writesOf(sql, changes, netOf(changed, stored)))
      return { refused: '' }
    },
    finish: async () => outcomes,
  }
}

const isCreate = (change: Change): change is Create => change[0] === 'create'

/** How a batch is made. */
export function stepOf(changes: readonly Change[]): Step<Attempted> {
  const creates = changes.filter(isCreate)
  const isDistinct = new Set(creates.map(([, [id]]) => id)).size === changes.length
  return isDistinct && creates.length > 0 ? createStep(creates) : transactionStep(changes)
}
