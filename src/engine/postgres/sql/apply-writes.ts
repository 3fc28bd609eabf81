// The SQL of a batch of writes: one statement for creates of distinct ids, a transaction otherwise.

import type { SQL } from 'bun'
import { type NewEntry, newMark } from '../../../change-log/entry'
import { TEXT_FIELDS } from '../../../plant/plant'
import { COLUMNS, type PlantRow, type RowId, toRow } from '../../../plant/row'
import { applyWrite, creation, idsOf, isPlantWrite, refuseCreate } from '../../commit/kinds'
import { DONE, isDone, type Outcome, type Write, type WriteOf } from '../../commit/write'
import { isDataError } from '../connection/errors'
import { LOCK_MS } from '../connection/settings'
import {
  bigints,
  columnsFrom,
  columnsOf,
  commit,
  limitLocks,
  rollBack,
  rowsOf,
  type Statement,
  sendAll,
} from '../connection/statements'
import type { Step } from '../lane/lane'
import { addPlants, beginStep, LANE_STATEMENTS, type LaneStep } from '../lane/lane-row'
import { addEntries, advanceAndAdd, cursorIn, entryColumns, LAST_PLACE } from './change-log'
import { type Net, netOf, overlay, type Rows } from './overlay'
import { LOCK_TABLE, lockFreeRows, lockRows, readRows, selectRows, toRows } from './plants'
import { recordUse } from './tokens'

// Maximum waits for locked rows: other plantstores lock theirs for one commit. Rows that stay locked are left out, and
// so are rows that another session has inserted and not committed.
const COMMIT_MS = 100
const INSERT_MS = 2

/** Rows as one array per column: the parameters from `first` on. */
const rowsFrom = (first: number): string => `${columnsFrom(first, TEXT_FIELDS)} AS i (${COLUMNS})`

const INSERTED_COUNT = '(SELECT count(*) FROM made)'

// `entered` locks the lane: if it has moved, or another backend moves it first, nothing is inserted. The lane keeps the
// refused ids, in case the answer is lost. Ids are sorted, so that two such statements never deadlock.
const createStatement = (hasChangeLog: boolean): string => `WITH entered AS (
    SELECT lane FROM lanes WHERE lane = $1 AND seq = $2::bigint - 1 AND logs = ${hasChangeLog}
      AND set_config('lock_timeout', '${COMMIT_MS}', true) <> '' FOR UPDATE
  ), made AS (
    INSERT INTO plants (${COLUMNS}) SELECT i.* FROM entered, ${rowsFrom(3)}
    ON CONFLICT (id) DO NOTHING RETURNING id
  )${hasChangeLog ? `, ${advanceAndAdd(INSERTED_COUNT, 4 + TEXT_FIELDS.length, 'JOIN made ON plant = id')}` : ''}
  UPDATE lanes SET seq = $2::bigint, seen_at = now(), added = added + ${INSERTED_COUNT}, refused = coalesce(
      (SELECT string_agg(i::text, ',') FROM unnest($3::bigint[]) i WHERE i NOT IN (SELECT id FROM made)), ''
    )
  WHERE lane = $1 AND seq = $2::bigint - 1 AND logs = ${hasChangeLog}
  RETURNING refused${hasChangeLog ? `, 1 / ((SELECT count(*) FROM added) = ${INSERTED_COUNT})::int, ${LAST_PLACE}` : ''}`

const [CREATE, CREATE_WITH_ENTRIES] = [createStatement(false), createStatement(true)]

const byId = ([a]: PlantRow, [b]: PlantRow): number => {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return BigInt(a) < BigInt(b) ? -1 : 1
}

/** The statement that stores the creates whose ids are free, as one step. */
function createRows(
  sql: SQL,
  { lane, seq, hasChangeLog }: LaneStep,
  creates: readonly WriteOf<'create'>[],
  mark: bigint,
): Statement {
  const sorted = creates.map(({ row }) => row).toSorted(byId)
  const rows = columnsOf(sql, TEXT_FIELDS, sorted)
  if (!hasChangeLog) return [CREATE, lane, seq, ...rows]
  const entries = creates.map(({ row, origin }) => creation(row, origin))
  return [CREATE_WITH_ENTRIES, lane, seq, ...rows, ...entryColumns(sql, entries, mark)]
}

export type BatchOutcomes = readonly Outcome[]

/** Stores creates of distinct ids; none: a commit that changes nothing. */
export function createStep(creates: readonly WriteOf<'create'>[]): Step<BatchOutcomes> {
  return {
    async send(sql, laneStep) {
      const mark = newMark()
      const [answer] = await sendAll(sql, [createRows(sql, laneStep, creates, mark)])
      const [row] = rowsOf<{ refused: string }>(answer)
      return row ? { refusedIds: row.refused, cursor: cursorIn(answer, mark) } : 'elsewhere'
    },
    async finish(refusedIds, ask) {
      if (refusedIds === '') return creates.map(() => DONE)
      const ids = new Set(refusedIds.split(','))
      // The other creates are stored, even if this read fails.
      const storedRows: Rows = await ask((sql) => selectRows(sql, [...ids])).catch(() => new Map())
      return creates.map(({ row }) => {
        if (!ids.has(String(row[0]))) return DONE
        const storedRow = storedRows.get(row[0])
        // Another process has deleted it since: the client may try again.
        return storedRow ? refuseCreate(row, storedRow) : { error: 'busy' }
      })
    },
  }
}

// A trigger or rule may discard rows without an error. Then the cast fails, and the transaction with it.
const writeAll = (write: string): string =>
  `WITH written AS (${write} RETURNING plants.id)
   SELECT CASE count(*) WHEN cardinality($1::bigint[]) THEN 1
     ELSE (count(*) || ' rows written: a trigger or rule of the table "plants" discards rows')::int END FROM written`

const INSERT = writeAll(`INSERT INTO plants (${COLUMNS}) SELECT i.* FROM ${rowsFrom(1)}`)
const UPDATE = writeAll(`UPDATE plants SET ${TEXT_FIELDS.map((name) => `${name} = i.${name}`)}
  FROM ${rowsFrom(1)} WHERE plants.id = i.id`)
const DELETE = writeAll('DELETE FROM plants WHERE id = ANY($1::bigint[])')

const insertRows = (sql: SQL, rows: readonly PlantRow[]): Statement => [
  INSERT,
  ...columnsOf(sql, TEXT_FIELDS, rows.toSorted(byId)),
]
const updateRows = (sql: SQL, rows: readonly PlantRow[]): Statement => [
  UPDATE,
  ...columnsOf(sql, TEXT_FIELDS, rows),
]
const deleteRows = (sql: SQL, ids: readonly RowId[]): Statement => [DELETE, bigints(sql, ids)]

/** The outcomes of a batch, and the writes behind them. */
type BatchDecision = {
  readonly outcomes: readonly Outcome[]
  readonly net: Net
  readonly entries: readonly NewEntry[]
  /** Ids without a row that no other process may take before the commit. */
  readonly reserved: readonly RowId[]
}

/** Decides a batch on the stored rows, without the writes of `locked` rows. */
function decideAll(
  batch: readonly Write[],
  storedRows: Rows,
  hasChangeLog: boolean,
  locked: ReadonlySet<RowId>,
): BatchDecision {
  const { state, changed } = overlay((id) => storedRows.get(id) ?? null)
  const entries: NewEntry[] = []
  const changeLog = hasChangeLog ? entries : undefined
  const outcomes = batch.map((write) => {
    if (!isPlantWrite(write)) return DONE
    if (locked.size > 0 && idsOf(write).some((id) => locked.has(id))) return LOCKED
    return applyWrite(write, state, changeLog)
  })
  const net = netOf(changed, storedRows)
  const transientIds = entries.length > 0 ? net.transient : []
  const reserved = [...new Set([...transientIds, ...missingOf(batch, outcomes, net, storedRows)])]
  return { outcomes, net, entries, reserved }
}

/**
 * Missing plants that writes of several plants name. Such a write takes effect at its commit: until then no other
 * process may create a plant that it reports as missing, or that the batch has created and removed.
 */
function missingOf(
  batch: readonly Write[],
  outcomes: readonly Outcome[],
  { inserted }: Net,
  storedRows: Rows,
): RowId[] {
  const multiPlantWrites = batch.filter(
    (write, index) => 'rows' in write && isDone(outcomes[index]),
  )
  const createdIds = new Set(inserted.map(([id]) => id))
  return rowsIn(multiPlantWrites).filter((id) => !storedRows.has(id) && !createdIds.has(id))
}

function insertsOf(sql: SQL, decision: BatchDecision): Statement[] {
  const reserved = decision.reserved.map((id) => toRow({ id: BigInt(id), name: '' }))
  const inserted = [...decision.net.inserted, ...reserved]
  return inserted.length > 0 ? [insertRows(sql, inserted)] : []
}

/** The writes that follow the inserts. */
function writesOf(
  sql: SQL,
  laneStep: LaneStep,
  batch: readonly Write[],
  decision: BatchDecision,
  mark: bigint,
): Statement[] {
  const { net, entries, reserved } = decision
  const statements: Statement[] = []
  const deleted = [...net.deleted, ...reserved]
  if (net.updated.length > 0) statements.push(updateRows(sql, net.updated))
  if (deleted.length > 0) statements.push(deleteRows(sql, deleted))
  const growth = net.inserted.length - net.deleted.length
  if (growth !== 0) statements.push(addPlants(laneStep, growth))
  for (const write of batch) {
    if (write.kind === 'recordUse') statements.push(recordUse(write.hash, write.hour))
  }
  // Last, as other processes wait for this lock.
  if (entries.length > 0) statements.push(addEntries(sql, entries, mark))
  return statements
}

/**
 * Every statement that writes plants, with parameters that match no row. Each fails if a privilege, a table or a column is
 * missing.
 */
export const writeStatements = (sql: SQL): readonly Statement[] => [
  ...[false, true].map((hasChangeLog) =>
    createRows(sql, { lane: '', seq: 0, hasChangeLog }, [], 0n),
  ),
  lockRows(sql, []),
  lockFreeRows(sql, []),
  insertRows(sql, []),
  updateRows(sql, []),
  deleteRows(sql, []),
  addEntries(sql, []),
  ...LANE_STATEMENTS,
]

/** The outcome of a write whose row another session has locked. */
export const LOCKED: Outcome = { error: 'busy' }

// Enough incompressible text to find a full disk.
const SAMPLE_BYTES = 48 * 1024

/** A row with an unused id. */
function sampleRow(): PlantRow {
  const [id = 0n] = crypto.getRandomValues(new BigInt64Array(1))
  const name = crypto.getRandomValues(new Uint8Array(SAMPLE_BYTES)).toBase64()
  return toRow({ id, name, tag: 'probe' })
}

/** A step that creates, changes and removes a plant, rolls back, and commits nothing. */
export const probeStep: Step<BatchOutcomes> = {
  ...createStep([]),
  async send(sql, laneStep) {
    const row = sampleRow()
    const entries = laneStep.hasChangeLog ? [addEntries(sql, [creation(row, null)])] : []
    const changes = [insertRows(sql, [row]), updateRows(sql, [row]), deleteRows(sql, [row[0]])]
    try {
      await sendAll(sql, ['BEGIN', ...changes, ...entries, ['ROLLBACK']])
    } catch (error) {
      // Another program's constraint refuses some plants, and no others.
      if (!isDataError(error)) throw error
    }
    return createStep([]).send(sql, laneStep)
  },
}

const rowsIn = (batch: readonly Write[]): RowId[] => [
  ...new Set(batch.filter(isPlantWrite).flatMap(idsOf)),
]

const NO_ROWS: Rows = new Map()

/** Statements that lock and read rows: waits for those that other sessions have locked. */
const lockAllRows = (sql: SQL, ids: readonly RowId[]): Statement[] =>
  ids.length > 0 ? [limitLocks(COMMIT_MS), lockRows(sql, ids)] : []

/** The same without waiting; the last statement reads the locked rows too. */
const lockOrReadRows = (sql: SQL, ids: readonly RowId[]): Statement[] => [
  limitLocks(LOCK_MS),
  LOCK_TABLE,
  lockFreeRows(sql, ids),
  readRows(sql, ids),
]

/** A step of any writes: locks and reads the rows, decides the outcomes, and writes the net changes. */
const stepBy =
  (lock: typeof lockAllRows) =>
  (batch: readonly Write[]): Step<BatchOutcomes> => {
    const ids = rowsIn(batch)
    let outcomes: BatchOutcomes = []
    return {
      async send(sql, laneStep) {
        const answers = await beginStep(sql, laneStep, lock(sql, ids))
        if (!answers) return 'elsewhere'
        const [, ...rows] = answers.map(toRows)
        const [storedRows = NO_ROWS, allRows = NO_ROWS] =
          lock === lockAllRows ? rows : rows.slice(1)
        const locked = new Set([...allRows.keys()].filter((id) => !storedRows.has(id)))
        const decision = decideAll(batch, storedRows, laneStep.hasChangeLog, locked)
        // Kept before the COMMIT, in case its answer is lost.
        outcomes = decision.outcomes
        const inserts = insertsOf(sql, decision)
        const isBrief = lock === lockOrReadRows && inserts.length > 0
        if (isBrief) await insertBriefly(sql, inserts)
        const mark = newMark()
        const writes = writesOf(sql, laneStep, batch, decision, mark)
        const results = await commit(sql, [...(isBrief ? [] : inserts), ...writes])
        const last = decision.entries.length > 0 ? results.at(-1) : undefined
        return { refusedIds: '', cursor: cursorIn(last, mark) }
      },
      finish: async () => outcomes,
    }
  }

const transactionStep = stepBy(lockAllRows)

/**
 * Like {@link transactionStep}, without waiting: writes of rows that other sessions have locked are refused. If an
 * insert meets an uncommitted row, which no query shows, the step fails with a lock timeout.
 */
export const stepOfFreeRows = stepBy(lockOrReadRows)

/** Inserts rows without waiting for those that another session has inserted and not committed. */
async function insertBriefly(sql: SQL, inserts: readonly Statement[]): Promise<void> {
  try {
    await sendAll(sql, [limitLocks(INSERT_MS), ...inserts, limitLocks(LOCK_MS)])
  } catch (error) {
    await rollBack(sql)
    throw error
  }
}

const isCreate = (write: Write): write is WriteOf<'create'> => write.kind === 'create'

/** The cheapest step that commits a batch. */
export function stepOf(batch: readonly Write[]): Step<BatchOutcomes> {
  const creates = batch.filter(isCreate)
  const isDistinct = new Set(creates.map(({ row }) => row[0])).size === batch.length
  return isDistinct && creates.length > 0 ? createStep(creates) : transactionStep(batch)
}
