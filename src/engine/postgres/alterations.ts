// Changes of the tables by other programs, from the server's catalog.

import type { SQL } from 'bun'
import { FIELDS } from '../../plant/plant'
import { describeColumn, describeForeignPart } from '../foreign-part'
import { rowsOf, sendAll } from './connecting/statements'
import { newerSchema, SCHEMA_VERSION } from './schema'

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

/** The tables of the schema. A missing one is reported by the statements that need it. */
export const OWN_TABLES = `(SELECT to_regclass(it) AS it FROM unnest('{${TABLES}}'::text[]) AS it
  WHERE to_regclass(it) IS NOT NULL)`
const SELECT = `
  SELECT 'unlogged' AS kind, oid::regclass::text AS name, '' AS detail FROM pg_class
  WHERE oid IN ${OWN_TABLES} AND relpersistence <> 'p'
  UNION ALL SELECT 'unlogged index', relname, indrelid::regclass::text
  FROM pg_index JOIN pg_class AS index ON index.oid = indexrelid
  WHERE indrelid IN ${OWN_TABLES} AND index.relpersistence <> 'p'
    AND (SELECT relpersistence FROM pg_class WHERE oid = indrelid) = 'p'
  UNION ALL SELECT 'row-level security', it::text, '' FROM ${OWN_TABLES} AS tables
  WHERE row_security_active(it::oid)
  UNION ALL SELECT 'column', attrelid::regclass || '.' || attname, format_type(atttypid, atttypmod)
  FROM pg_attribute WHERE attrelid = to_regclass('plants') AND attname IN (${FIELDS.map((field) => `'${field}'`)})
    AND atttypid <> CASE attname WHEN 'id' THEN 'bigint'::regtype ELSE 'text'::regtype END
  UNION ALL SELECT 'generated', attrelid::regclass || '.' || attname, '' FROM pg_attribute
  WHERE attrelid IN ${OWN_TABLES} AND attname IN (${FIELDS.map((name) => `'${name}'`)}) AND attgenerated <> ''
  UNION ALL SELECT 'trigger', tgname, tgrelid::regclass::text FROM pg_trigger
  WHERE tgrelid IN ${OWN_TABLES} AND NOT tgisinternal AND tgenabled IN ('O', 'A')
  UNION ALL SELECT 'rule', rulename, ev_class::regclass::text FROM pg_rewrite
  WHERE ev_class IN ${OWN_TABLES} AND ev_enabled IN ('O', 'A')
  UNION ALL SELECT 'schema', version::text, '' FROM plantstore_schema WHERE version > ${SCHEMA_VERSION}
  UNION ALL SELECT 'rows', name, '' FROM (VALUES
    ('change_log', (SELECT count(*) FROM change_log)),
    ('change_log_start', (SELECT count(*) FROM change_log_start))
  ) AS counted (name, rows) WHERE rows <> 1
  ORDER BY kind, name`

type Row = { readonly kind: string; readonly name: string; readonly detail: string }

const NEW_ROWS: Readonly<Record<string, string>> = {
  change_log: `INSERT INTO change_log (last) SELECT greatest(number, (SELECT max(changes.number) FROM changes))
    FROM change_log_start; then restart plantstore, with --keep-changes if it kept a change log`,
  change_log_start: 'INSERT INTO change_log_start (number, mark) VALUES (0, 0)',
}

/** The effect of each alteration, and the fix. */
const TEXTS: Readonly<Record<string, (row: Row) => string>> = {
  unlogged: ({ name }) =>
    `table ${name} is UNLOGGED: a crash of the server empties it; run ALTER TABLE ${name} SET LOGGED`,
  'unlogged index': ({ name, detail }) =>
    `index ${name} on ${detail} is UNLOGGED: a crash of the server empties it; drop it, and create it again`,
  'row-level security': ({ name }) =>
    `row-level security hides rows of ${name} from this user; run ALTER TABLE ${name} DISABLE ROW LEVEL SECURITY`,
  rows: ({ name }) =>
    `table ${name} must have one row; run DELETE FROM ${name}; ${NEW_ROWS[name]?.replace(/\s+/g, ' ')}`,
  schema: ({ name }) => newerSchema(Number(name)),
  // No trial shows that a trigger keeps every name.
  trigger: ({ name, detail }) => describeForeignPart('trigger', name, detail),
  rule: ({ name, detail }) => describeForeignPart('rule', name, detail),
  generated: ({ name }) => `column ${name} is generated; run ALTER TABLE … ALTER … DROP EXPRESSION`,
  column: ({ name, detail }) =>
    describeColumn(name, detail, name.endsWith('.id') ? 'bigint' : 'text'),
}
/** The alterations by which acknowledged writes may be lost or changed, or none is possible. */
export async function readAlterations(sql: SQL): Promise<readonly string[]> {
  const [result] = await sendAll(sql, [[SELECT]])
  return rowsOf<Row>(result).map((row) => TEXTS[row.kind]?.(row) ?? row.kind)
}
