// Runs the unchanged tests of the HTTP API and of the commands on PostgreSQL, each file in a separate process.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { PASSWORD, PSQL } from '../../../tools/postgres/server'
import { root } from '../../harness/daemon'
import { describeServer } from '../../harness/own-server'
import { run } from '../../harness/process'

setDefaultTimeout(600_000)

/**
 * Tests that use the store. Tests of sockets and of the API's description do not depend on the engine.
 */
const FILES = [
  'http/auth',
  'http/batches',
  'http/body-size',
  'http/changes',
  'http/refusals',
  'http/list',
  'http/messages',
  'http/methods',
  'http/patch',
  'http/patch-batch',
  'http/precondition',
  'http/rate-limit',
  'http/request-log',
  'http/status',
  'cli/commands/changes',
  'cli/commands/health',
  'cli/commands/import-csv',
]

describeServer(
  'with %s',
  (startServer) => {
    test.each(FILES)('test/%s.test.ts passes', async (file) => {
      const { port } = await startServer()
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
  { canRun: existsSync(PSQL) },
)
