// Changes of the tables by other programs, from the server's catalog.

import type { SQL } from 'bun'
import { FIELDS } from '../../../plant/plant'
import { describeColumn, describeForeignPart } from '../../foreign-part'
import { rowsOf, sendAll } from '../connecting/statements'
import { newerSchema, SCHEMA_VERSION } from './migrations'

export type Alteration = {
  readonly kind: string
  readonly text: string
  /** True if acknowledged writes may be lost or changed, or none is possible. */
  readonly isUnsafe: boolean
}

const TABLES = [
  'plants',
  'plant_count',
  'tokens',
  'lanes',
  'changes',
  'change_log',
  'change_log_start',
  'plantstore_schema',
]

// A missing table is reported by the statements that need it.
const OURS = `(SELECT to_regclass(it) AS it FROM unnest('{${TABLES}}'::text[]) AS it
  WHERE to_regclass(it) IS NOT NULL)`
const SELECT = `
  SELECT 'unlogged' AS kind, oid::regclass::text AS name, '' AS detail FROM pg_class
  WHERE oid IN ${OURS} AND relpersistence <> 'p'
  UNION ALL SELECT 'unlogged index', relname, indrelid::regclass::text
  FROM pg_index JOIN pg_class AS index ON index.oid = indexrelid
  WHERE indrelid IN ${OURS} AND index.relpersistence <> 'p'
    AND (SELECT relpersistence FROM pg_class WHERE oid = indrelid) = 'p'
  UNION ALL SELECT 'row-level security', it::text, '' FROM ${OURS} AS tables
  WHERE row_security_active(it::oid)
  UNION ALL SELECT 'deferrable', conname, conrelid::regclass::text FROM pg_constraint
  WHERE conrelid IN ${OURS} AND contype = 'p' AND condeferrable
  UNION ALL SELECT 'column', attrelid::regclass || '.' || attname, format_type(atttypid, atttypmod)
  FROM pg_attribute WHERE attrelid = to_regclass('plants') AND attname IN (${FIELDS.map((field) => `'${field}'`)})
    AND atttypid <> CASE attname WHEN 'id' THEN 'bigint'::regtype ELSE 'text'::regtype END
  UNION ALL SELECT 'generated', attrelid::regclass || '.' || attname, '' FROM pg_attribute
  WHERE attrelid IN ${OURS} AND attname IN (${FIELDS.map((name) => `'${name}'`)}) AND attgenerated <> ''
  UNION ALL SELECT 'foreign key', conname, conrelid::regclass || ' refers to ' || confrelid::regclass
  FROM pg_constraint WHERE contype = 'f' AND confrelid IN ${OURS} AND conparentid = 0
  UNION ALL SELECT 'trigger', tgname, tgrelid::regclass::text FROM pg_trigger
  WHERE tgrelid IN ${OURS} AND NOT tgisinternal AND tgenabled IN ('O', 'A')
  UNION ALL SELECT 'rule', rulename, ev_class::regclass::text FROM pg_rewrite
  WHERE ev_class IN ${OURS} AND ev_enabled IN ('O', 'A')
  UNION ALL SELECT 'schema', version::text, '' FROM plantstore_schema WHERE version > ${SCHEMA_VERSION}
  ORDER BY kind, name`

type Row = { readonly kind: string; readonly name: string; readonly detail: string }

/** Unsafe alterations: the effect of each, and the fix. */
const UNSAFE: Readonly<Record<string, (row: Row) => string>> = {
  unlogged: ({ name }) =>
    `table ${name} is UNLOGGED: a crash of the server empties it; run ALTER TABLE ${name} SET LOGGED`,
  'unlogged index': ({ name, detail }) =>
    `index ${name} on ${detail} is UNLOGGED: a crash of the server empties it; drop it, and create it again`,
  'row-level security': ({ name }) =>
    `row-level security hides rows of ${name} from this user; run ALTER TABLE ${name} DISABLE ROW LEVEL SECURITY`,
  deferrable: ({ name, detail }) =>
    `key ${name} on ${detail} is deferrable, so creates fail; create it again without DEFERRABLE`,
  schema: ({ name }) => newerSchema(Number(name)),
  // No trial shows that a trigger keeps every name.
  trigger: ({ name, detail }) => describeForeignPart('trigger', name, detail),
  rule: ({ name, detail }) => describeForeignPart('rule', name, detail),
  generated: ({ name }) => `column ${name} is generated; run ALTER TABLE … ALTER … DROP EXPRESSION`,
  column: ({ name, detail }) =>
    describeColumn(name, detail, name.endsWith('.id') ? 'bigint' : 'text'),
}
/** Unwanted alterations that are safe. */
const UNWANTED: Readonly<Record<string, (row: Row) => string>> = {
  'foreign key': ({ name, detail }) => `foreign key ${name} of ${detail}; deletes may fail`,
}

function toAlteration(row: Row): Alteration {
  const { kind } = row
  const [unsafe, unwanted] = [UNSAFE[kind], UNWANTED[kind]]
  return { kind, text: (unsafe ?? unwanted)?.(row) ?? kind, isUnsafe: unsafe !== undefined }
}

/** The alterations of the tables. */
export async function readAlterations(sql: SQL): Promise<readonly Alteration[]> {
  const [result] = await sendAll(sql, [[SELECT]])
  return rowsOf<Row>(result).map(toAlteration)
}
