// The tests of the HTTP API and of the commands, as they are, on PostgreSQL: each file in a process of its own.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { PASSWORD, psql } from '../../../tools/postgres/server'
import { root } from '../../harness/daemon'
import { describeServer } from '../../harness/own-server'
import { run } from '../../harness/process'

setDefaultTimeout(600_000)

/**
 * Tests that ask a store for something, and not a file: sockets and the description of the API are the same with each.
 */
const files = [
  'http/auth',
  'http/batch',
  'http/body-size',
  'http/changes',
  'http/create',
  'http/errors',
  'http/fields',
  'http/leaks',
  'http/list',
  'http/methods',
  'http/order',
  'http/patch',
  'http/patch-batch',
  'http/precondition',
  'http/rate-limit',
  'http/read',
  'http/request-log',
  'http/status',
  'cli/commands/changes',
  'cli/commands/health',
  'cli/commands/import-csv',
]

describeServer(
  'on %s',
  (started) => {
    test.each(files)('test/%s.test.ts passes', async (file) => {
      const { port } = await started()
      const env = {
        PLANTSTORE_TEST_DATABASE: `postgres://admin@127.0.0.1:${port}/postgres`,
        PGPASSWORD: PASSWORD,
        ...(Bun.env.TESTED_BINARY ? { TESTED_BINARY: Bun.env.TESTED_BINARY } : {}),
      }
      const command = [process.execPath, 'test', `./test/${file}.test.ts`]

      const { code, err } = await run(command, { cwd: root, env })

      expect(code === 0 ? '' : err).toBe('')
    })
  },
  { canRun: existsSync(psql) },
)
