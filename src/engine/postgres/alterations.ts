// Changes of the tables by other programs, from the server's catalog. What the server refuses by itself, such as a policy or
// a missing key, is not looked for.

import type { SQL } from 'bun'
import { FIELDS } from '../../plant/plant'
import { describeColumn, describeForeignPart, newerSchema } from '../schema-messages'
import { DATABASE, SCHEMA, SCHEMA_VERSION } from './schema'

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
const ACTUAL = `format_type(atttypid, atttypmod) || CASE attgenerated WHEN '' THEN '' ELSE ', generated' END`
const NEW_CHANGE_LOG =
  'INSERT INTO change_log (last) SELECT greatest(number, (SELECT max(changes.number) FROM changes)) FROM change_log_start; then restart plantstore, with --keep-changes if it kept a change log'

const requireOneRow = (table: string, insert: string): string => `
  ${select(`table ${table} must have one row; run DELETE FROM ${table}; %s`, `'${insert}'`)}
  WHERE (SELECT count(*) FROM ${table}) <> 1`

// No probe shows that a trigger keeps every name.
const SELECT = [
  `${select('table %1$s is UNLOGGED: a crash of the server empties it; run ALTER TABLE %1$s SET LOGGED', 'oid::regclass')}
  FROM pg_class WHERE oid IN ${OWN_TABLES} AND relpersistence <> 'p'`,
  `${select(describeColumn('%s', '%s', '%s'), COLUMN, ACTUAL, TYPE)}
  FROM pg_attribute WHERE attrelid = to_regclass('plants') AND ${OWN_COLUMN}
    AND (atttypid <> ${TYPE} OR attgenerated <> '')`,
  `${select(describeForeignPart('trigger', '%s', '%s'), 'tgname', 'tgrelid::regclass')}
  FROM pg_trigger WHERE tgrelid IN ${OWN_TABLES} AND NOT tgisinternal AND tgenabled IN ('O', 'A')`,
  `${select(describeForeignPart('rule', '%s', '%s'), 'rulename', 'ev_class::regclass')}
  FROM pg_rewrite WHERE ev_class IN ${OWN_TABLES} AND ev_enabled IN ('O', 'A')`,
  `${select(newerSchema(DATABASE, '%s', SCHEMA_VERSION), 'version')} FROM plantstore_schema WHERE version > ${SCHEMA_VERSION}`,
  requireOneRow('change_log', NEW_CHANGE_LOG),
  requireOneRow('change_log_start', 'INSERT INTO change_log_start (number, mark) VALUES (0, 0)'),
].join(' UNION ALL ')

/** The texts that a query of {@link select} finds. */
export async function textsOf(sql: SQL, query: string): Promise<string[]> {
  const rows = await sql.unsafe<{ text: string }[]>(`${query} ORDER BY text`)
  return rows.map(({ text }) => text)
}

/** The alterations by which acknowledged writes may be lost or changed, or none is possible. */
export const readAlterations = (sql: SQL): Promise<string[]> => textsOf(sql, SELECT)
