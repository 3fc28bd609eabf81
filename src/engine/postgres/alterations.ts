// Changes of the tables by other programs, from the server's catalog.

import type { SQL } from 'bun'
import { FIELDS } from '../../plant/plant'
import { describeColumn, describeForeignPart } from '../foreign-part'
import { rowsOf, sendAll } from './connection/statements'
import { newerSchema, SCHEMA, SCHEMA_VERSION } from './schema'

const TABLES = [...SCHEMA.matchAll(/CREATE TABLE (\w+)/g)].map(([, table]) => table)

/** The tables of the schema. A missing one is reported by the statements that need it. */
export const OWN_TABLES = `(SELECT to_regclass(it) AS it FROM unnest('{${TABLES}}'::text[]) AS it
  WHERE to_regclass(it) IS NOT NULL)`

/** Selects a text about each row: a template of format(), and its values. */
export const select = (template: string, ...values: readonly string[]): string =>
  `SELECT format('${template.replaceAll("'", "''")}', ${values}) AS text`

const OWN_COLUMN = `attname IN (${FIELDS.map((field) => `'${field}'`)})`
const COLUMN = `attrelid::regclass || '.' || attname`
const TYPE = `CASE attname WHEN 'id' THEN 'bigint'::regtype ELSE 'text'::regtype END`
const NEW_CHANGE_LOG =
  'INSERT INTO change_log (last) SELECT greatest(number, (SELECT max(changes.number) FROM changes)) FROM change_log_start; then restart plantstore, with --keep-changes if it kept a change log'
const NEW_START = 'INSERT INTO change_log_start (number, mark) VALUES (0, 0)'

const requireOneRow = (table: string, insert: string): string => `
  ${select(`table ${table} must have one row; run DELETE FROM ${table}; %s`, `'${insert}'`)}
  WHERE (SELECT count(*) FROM ${table}) <> 1`

// No trial shows that a trigger keeps every name.
const SELECT = [
  `${select('table %1$s is UNLOGGED: a crash of the server empties it; run ALTER TABLE %1$s SET LOGGED', 'oid::regclass')}
  FROM pg_class WHERE oid IN ${OWN_TABLES} AND relpersistence <> 'p'`,
  `${select('row-level security hides rows of %1$s from this user; run ALTER TABLE %1$s DISABLE ROW LEVEL SECURITY', 'it')}
  FROM ${OWN_TABLES} AS tables WHERE row_security_active(it::oid)`,
  `${select(describeColumn('%s', '%s', '%s'), COLUMN, 'format_type(atttypid, atttypmod)', TYPE)}
  FROM pg_attribute WHERE attrelid = to_regclass('plants') AND ${OWN_COLUMN} AND atttypid <> ${TYPE}`,
  `${select('column %s is generated; run ALTER TABLE … ALTER … DROP EXPRESSION', COLUMN)}
  FROM pg_attribute WHERE attrelid IN ${OWN_TABLES} AND ${OWN_COLUMN} AND attgenerated <> ''`,
  `${select(describeForeignPart('trigger', '%s', '%s'), 'tgname', 'tgrelid::regclass')}
  FROM pg_trigger WHERE tgrelid IN ${OWN_TABLES} AND NOT tgisinternal AND tgenabled IN ('O', 'A')`,
  `${select(describeForeignPart('rule', '%s', '%s'), 'rulename', 'ev_class::regclass')}
  FROM pg_rewrite WHERE ev_class IN ${OWN_TABLES} AND ev_enabled IN ('O', 'A')`,
  `${select(newerSchema('%s'), 'version')} FROM plantstore_schema WHERE version > ${SCHEMA_VERSION}`,
  requireOneRow('change_log', NEW_CHANGE_LOG),
  requireOneRow('change_log_start', NEW_START),
].join(' UNION ALL ')

/** The alterations by which acknowledged writes may be lost or changed, or none is possible. */
export async function readAlterations(sql: SQL): Promise<readonly string[]> {
  const [result] = await sendAll(sql, [[`${SELECT} ORDER BY text`]])
  return rowsOf<{ text: string }>(result).map(({ text }) => text)
}
