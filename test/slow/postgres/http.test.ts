// Runs unchanged tests of the HTTP API and of the commands on PostgreSQL.
import { expect, setDefaultTimeout } from 'bun:test'
import { existsSync } from 'node:fs'
import { PASSWORD, PSQL } from '../../../tools/postgres/server'
import { root } from '../../harness/daemon'
import { onServers } from '../../harness/own-server'
import { run } from '../../harness/process'

setDefaultTimeout(600_000)

/** Tests of what a store answers that its contract leaves out: filters, cursors, errors, and whole bodies. */
const FILES = [
  'http/batches',
  'http/changes',
  'http/list',
  'http/patch-batch',
  'http/precondition',
  'http/refusals',
  'http/status',
  'cli/commands/changes',
  'cli/commands/health',
  'cli/commands/import-csv',
].map((name) => `./test/${name}.test.ts`)

const test = onServers('with %s', { isNewest: true, canRun: existsSync(PSQL) })

test('the tests of the HTTP API and of the commands pass', async ({ port }) => {
  const env = {
    PLANTSTORE_TEST_DATABASE: `postgres://admin@127.0.0.1:${port}/postgres`,
    PGPASSWORD: PASSWORD,
    ...(Bun.env.TESTED_BINARY ? { TESTED_BINARY: Bun.env.TESTED_BINARY } : {}),
  }

  const { code, out, err } = await run([process.execPath, 'test', ...FILES], { cwd: root, env })

  expect(code === 0 ? '' : out + err).toBe('')
})
