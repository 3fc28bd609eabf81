// A daemon before a server whose certificate ends, is renewed, or comes from another CA.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { type PostgresServer, startPostgres } from '../../../tools/postgres/server'
import { makeCa } from '../../harness/certificates'
import {
  builtProgram,
  type Daemon,
  PATIENCE_MS,
  runProgram,
  startDaemon,
} from '../../harness/daemon'
import { own } from '../../harness/own'
import { ownFolder } from '../../harness/own-folder'
import { describeServer } from '../../harness/own-server'
import { until } from '../../harness/until'

setDefaultTimeout(2 * PATIENCE_MS)

const program = builtProgram()

/** Gives the server a certificate, which its next connections get. */
async function install(server: PostgresServer, { cert, key }: { cert: string; key: string }) {
  server.rewrite('server.pem', cert)
  server.rewrite('server.key', key)
  const before = server.log()
  await server.query('SELECT pg_reload_conf()')
  await until('a reload', () => server.log().slice(before.length).includes('SIGHUP'))
}

const endConnections = (server: PostgresServer) =>
  server.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'plantstore@%'`,
  )

let ids = 0

/** Creates a plant; resolves to the status. */
async function create(daemon: Daemon): Promise<number> {
  ids += 1
  return (await daemon.create(`{"id":${ids},"name":"plant"}`)).status
}

const healthOf = async (daemon: Daemon) => (await daemon.fetch('/health')).status

/** True if the server was lost, and this is the reason that it is not found. */
const isLostFor = (daemon: Daemon, reason: string) =>
  daemon
    .events()
    .some(({ event, detail }) => event === 'server-still-lost' && `${detail}`.includes(reason))

describeServer(
  'the certificate of %s',
  (_, it) => {
    const folder = ownFolder()
    const ca = own(() => makeCa(folder, 'ca'))
    const next = own(() => makeCa(folder, 'next'))

    test('may end and be renewed, and its CA exchanged, while a daemon is connected', async () => {
      const trusted = folder.file('trusted.pem')
      writeFileSync(trusted, readFileSync(ca.cert))
      const { cert, key } = ca.sign('DNS:localhost')
      await using server = await startPostgres(it, {
        settings: { ssl: 'on', ssl_cert_file: 'server.pem', ssl_key_file: 'server.key' },
        files: { 'server.pem': cert, 'server.key': key },
      })
      const database = `${server.url('postgres', 'localhost')}?sslmode=verify-full&sslrootcert=${trusted}`
      const options = { program, env: { PLANTSTORE_DATABASE: database } }
      await using daemon = await startDaemon(options)
      expect(await create(daemon)).toBe(200)

      // Connections go on, and new ones are refused.
      await install(server, ca.sign('DNS:localhost', -1))
      expect(await create(daemon)).toBe(200)
      expect(await healthOf(daemon)).toBe(200)
      const expired = await runProgram(['check'], options)
      expect(expired).toMatchObject({ code: 1, out: '' })
      expect(expired.err).toEndWith(': its certificate has expired\n')

      await endConnections(server)
      await until('bad health', async () => (await healthOf(daemon)) === 503)
      await until('the reason', () => isLostFor(daemon, 'its certificate has expired'))
      const waiting = create(daemon)
      await install(server, ca.sign('DNS:localhost'))
      // A write that waits for the server is made once it is found.
      expect(await waiting).toBe(200)
      await until('health', async () => (await healthOf(daemon)) === 200)

      // The file of the CAs is read for each connection.
      await install(server, next.sign('DNS:localhost'))
      expect(await create(daemon)).toBe(200)
      await endConnections(server)
      await until('the reason', () => isLostFor(daemon, 'not signed by a trusted CA'))
      expect(await healthOf(daemon)).toBe(503)
      writeFileSync(trusted, `${readFileSync(ca.cert)}${readFileSync(next.cert)}`)
      await until('health', async () => (await healthOf(daemon)) === 200)
      expect(await create(daemon)).toBe(200)

      const { out } = await runProgram(['check'], options)
      expect(out).toContain('ok: 5 plants')
      expect(daemon.events().filter(({ level }) => level === 'error')).toEqual([])
    })
  },
  { canRun: Bun.which('openssl') !== null },
)
