// A database of another build's schema.
import { expect } from 'bun:test'
import { SCHEMA_VERSION } from '../../../src/engine/postgres/schema'
import { onServers } from '../../harness/own-server'
import { newDatabase, openAt, runOn } from '../../harness/postgres-store'

const COMMANDS = [
  'serve --port 0',
  'import - --format ndjson',
  'export',
  'check',
  'changes',
  'token list',
  'token create laptop',
]

const test = onServers('a database in %s', { isNewest: true })

test.each([
  [
    6,
    `written by a build before 1.0.0 (schema 6; this one reads ${SCHEMA_VERSION}); export it with the build of commit 1d95bd2cfb87`,
  ],
  [99, 'written by a newer plantstore (schema 99;'],
])(
  'of schema %i is refused by each command, which says what to do',
  async (server, version, reason) => {
    const url = await newDatabase(server)
    await (await openAt(url)).close()
    await server.query(`UPDATE plantstore_schema SET version = ${version}`, url)

    for (const line of COMMANDS) {
      const { err, code } = await runOn(url, line.split(' '), {
        stdin: '{"id":1,"name":"Rose"}\n',
      })
      expect({ line, code, err }).toEqual({ line, code: 1, err: expect.stringContaining(reason) })
    }

    expect(await server.query('SELECT FROM tokens', url)).toHaveLength(0)
    expect(await server.query('SELECT FROM plants', url)).toHaveLength(0)
  },
)
