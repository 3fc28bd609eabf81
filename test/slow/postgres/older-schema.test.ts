// A database of a build before 1.0.0.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { SCHEMA_VERSION } from '../../../src/engine/postgres/schema'
import { builtProgram, PATIENCE_MS, runProgram } from '../../harness/daemon'
import { describeServer } from '../../harness/own-server'
import { newDatabase, openAt } from '../../harness/postgres-store'

setDefaultTimeout(PATIENCE_MS)

const PROGRAM = builtProgram()

describeServer('a database of an older schema in %s', (startServer) => {
  test.each(['serve --port 0', 'export', 'check', 'changes', 'token list', 'token create laptop'])(
    'is refused by %s, which names the build that exports it',
    async (line) => {
      const server = await startServer()
      const url = await newDatabase(server)
      await (await openAt(url)).close()
      await server.query(`UPDATE plantstore_schema SET version = 6`, url)

      const { err, code } = await runProgram(line.split(' '), {
        program: PROGRAM,
        env: { PLANTSTORE_DATABASE: url },
      })

      expect(code).toBe(1)
      expect(err).toContain(
        `written by a build before 1.0.0 (schema 6; this one reads ${SCHEMA_VERSION}); export it with the build of commit 1d95bd2cfb87`,
      )
      expect(await server.query('SELECT FROM tokens', url)).toHaveLength(0)
    },
  )
})
