// A database of another build's schema.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { SCHEMA_VERSION } from '../../../src/engine/postgres/schema'
import { builtProgram, PATIENCE_MS, runProgram } from '../../harness/daemon'
import { describeServer } from '../../harness/own-server'
import { newDatabase, openAt } from '../../harness/postgres-store'

setDefaultTimeout(PATIENCE_MS)

const COMMANDS = [
  'serve --port 0',
  'import - --format ndjson',
  'export',
  'check',
  'changes',
  'token list',
  'token create laptop',
]

describeServer('a database in %s', (startServer) => {
  test.each([
    [
      6,
      `written by a build before 1.0.0 (schema 6; this one reads ${SCHEMA_VERSION}); export it with the build of commit 1d95bd2cfb87`,
    ],
    [99, 'written by a newer plantstore (schema 99;'],
  ])('of schema %i is refused by each command, which says what to do', async (version, reason) => {
    const server = await startServer()
    const url = await newDatabase(server)
    await (await openAt(url)).close()
    await server.query(`UPDATE plantstore_schema SET version = ${version}`, url)

    for (const line of COMMANDS) {
      const { err, code } = await runProgram(line.split(' '), {
        program: builtProgram(),
        env: { PLANTSTORE_DATABASE: url },
        stdin: '{"id":1,"name":"Rose"}\n',
      })
      expect({ line, code, err }).toEqual({ line, code: 1, err: expect.stringContaining(reason) })
    }

    expect(await server.query('SELECT FROM tokens', url)).toHaveLength(0)
    expect(await server.query('SELECT FROM plants', url)).toHaveLength(0)
  })
})
