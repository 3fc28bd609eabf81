// A daemon whose server's certificate expires, is renewed, or gets another CA.

import { expect, setDefaultTimeout } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import type { PostgresServer } from '../../../tools/postgres/server'
import { makeCa } from '../../harness/certificates'
import { type Daemon, PATIENCE_MS, startDaemon } from '../../harness/daemon'
import { own } from '../../harness/own'
import { ownFolder } from '../../harness/own-folder'
import { onServers } from '../../harness/own-server'
import { runOn, terminateSessions } from '../../harness/postgres-store'
import { until } from '../../harness/until'

setDefaultTimeout(2 * PATIENCE_MS)

/** Installs a certificate for new connections to the server. */
async function install(server: PostgresServer, { cert, key }: { cert: string; key: string }) {
  writeFileSync(`${server.folder}/data/server.pem`, cert)
  writeFileSync(`${server.folder}/data/server.key`, key)
  const before = server.log()
  await server.query('SELECT pg_reload_conf()')
  await until('a reload', () => server.log().slice(before.length).includes('SIGHUP'))
}

let ids = 0

/** Creates a plant; resolves to the status. */
async function create(daemon: Daemon): Promise<number> {
  ids += 1
  return (await daemon.create(`{"id":${ids},"name":"plant"}`)).status
}

const healthOf = async (daemon: Daemon) => (await daemon.fetch('/health')).status

/** True if the server was lost and is not found for this reason. */
const isLostFor = (daemon: Daemon, reason: string) =>
  daemon
    .events()
    .some(({ event, detail }) => event === 'server-still-lost' && `${detail}`.includes(reason))

const folder = ownFolder()
const ca = own(() => makeCa(folder, 'ca'))
const next = own(() => makeCa(folder, 'next'))
const test = onServers('the certificate of %s', {
  isNewest: true,
  canRun: Bun.which('openssl') !== null,
  server: () => ca.serverOptions(),
})

test('can expire, be renewed and get another CA while a daemon is connected', async (server) => {
  const trusted = folder.file('trusted.pem')
  writeFileSync(trusted, readFileSync(ca.cert))
  const database = `${server.url('postgres', 'localhost')}?sslmode=verify-full&sslrootcert=${trusted}`
  await using daemon = await startDaemon({ env: { PLANTSTORE_DATABASE: database } })
  expect(await create(daemon)).toBe(200)

  // Open connections stay, new ones are refused.
  await install(server, ca.sign('DNS:localhost', -1))
  expect(await create(daemon)).toBe(200)
  expect(await healthOf(daemon)).toBe(200)
  const expired = await runOn(database, ['check'])
  expect(expired).toMatchObject({ code: 1, out: '' })
  expect(expired.err).toEndWith('certificate has expired (CERT_HAS_EXPIRED)\n')

  await terminateSessions(server)
  await until('bad health', async () => (await healthOf(daemon)) === 503)
  await until('the reason', () => isLostFor(daemon, 'certificate has expired'))
  const waiting = create(daemon)
  await install(server, ca.sign('DNS:localhost'))
  // A waiting write is sent once the server is found.
  expect(await waiting).toBe(200)
  await until('health', async () => (await healthOf(daemon)) === 200)

  // The file of the CAs is read for each connection.
  await install(server, next.sign('DNS:localhost'))
  expect(await create(daemon)).toBe(200)
  await terminateSessions(server)
  await until('the reason', () => isLostFor(daemon, 'add the CA to the URL'))
  expect(await healthOf(daemon)).toBe(503)
  writeFileSync(trusted, `${readFileSync(ca.cert)}${readFileSync(next.cert)}`)
  await until('health', async () => (await healthOf(daemon)) === 200)
  expect(await create(daemon)).toBe(200)

  const { out } = await runOn(database, ['check'])
  expect(out).toContain('ok: 5 plants')
  expect(daemon.events().filter(({ level }) => level === 'error')).toEqual([])
})
