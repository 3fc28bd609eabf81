import { beforeAll, expect } from 'bun:test'
import { connect } from '../../../src/engine/postgres/connection/hosts'
import { type PostgresServer, startPostgres } from '../../../tools/postgres/server'
import { makeCa } from '../../harness/certificates'
import { own } from '../../harness/own'
import { ownFolder } from '../../harness/own-folder'
import { onInstallations, onServers } from '../../harness/own-server'
import { refusalOn, targetOf } from '../../harness/postgres-store'

const folder = ownFolder()
const [trusted, untrusted] = [folder.file('ca.pem'), folder.file('other.pem')]
const ca = own(() => makeCa(folder, 'ca'))
beforeAll(() => void makeCa(folder, 'other'))

const OPTIONS = {
  isNewest: true,
  canRun: Bun.which('openssl') !== null,
  server: () => ca.serverOptions(),
}
const SUBJECT = 'a connection to %s with TLS'
const test = onServers(SUBJECT, OPTIONS)
const testAlone = onInstallations(SUBJECT, OPTIONS)

/** True if the session is encrypted; the reason if there is none. */
async function tryOut(url: string): Promise<string> {
  try {
    const connection = await connect(targetOf(url))
    const [row] = await connection.sql<{ ssl: boolean }[]>`
        SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`
    await connection.close()
    return row?.ssl ? 'encrypted' : 'plain'
  } catch (error) {
    return error instanceof Error ? error.message : ''
  }
}

const urlOf = (server: PostgresServer, host: string, query: string): string =>
  `${server.url('postgres', host)}?${query}`

test.each([
  ['127.0.0.1', '', 'plain'],
  ['127.0.0.1', 'sslmode=require', 'encrypted'],
  ['localhost', `sslmode=verify-full&sslrootcert=${trusted}`, 'encrypted'],
  ['127.0.0.1', `sslmode=verify-ca&sslrootcert=${trusted}`, 'encrypted'],
  ['127.0.0.1', `sslmode=verify-full&sslrootcert=${trusted}`, '(ERR_TLS_CERT_ALTNAME_INVALID)'],
  ['localhost', 'sslmode=verify-full', '; add the CA to the URL: sslrootcert=FILE'],
  ['localhost', `sslmode=verify-full&sslrootcert=${untrusted}`, '; add the CA to the URL'],
  ['localhost', `sslmode=verify-ca&sslrootcert=${untrusted}`, '; add the CA to the URL'],
  ['localhost', `sslmode=require&sslrootcert=${untrusted}`, '; add the CA to the URL'],
  ['localhost', 'sslmode=verify-full&sslrootcert=/missing', 'cannot read sslrootcert /missing'],
])('a connection to %s?%s ends as: %s', async (server, host, query, reason) => {
  expect(await tryOut(urlOf(server, host, query))).toContain(reason)
})

testAlone('sends the client certificate to a server that asks for one', async (installation) => {
  const { settings, files } = ca.serverOptions()
  const client = ca.sign('DNS:client')
  await Bun.write(folder.file('own.pem'), client.cert)
  await Bun.write(folder.file('own.key'), client.key)
  await using server = await startPostgres(installation, {
    settings: { ...settings, ssl_ca_file: 'ca.pem' },
    files: {
      ...files,
      'ca.pem': await Bun.file(ca.cert).text(),
      'pg_hba.conf':
        'hostnossl all all 127.0.0.1/32 scram-sha-256\nhostssl all all 127.0.0.1/32 scram-sha-256 clientcert=verify-ca\n',
    },
  })
  const url = `${server.url('postgres', 'localhost')}?sslmode=verify-full&sslrootcert=${trusted}`

  expect(await tryOut(url)).toContain('client certificate')
  const pair = `sslcert=${folder.file('own.pem')}&sslkey=${folder.file('own.key')}`
  expect(await tryOut(`${url}&${pair}`)).toBe('encrypted')
  expect(await tryOut(`${url}&${pair}x`)).toContain('cannot read sslkey')
})

test('never encrypts a unix socket', async (server) => {
  const url = `postgres://admin@/postgres?host=${server.folder}/socket&port=${server.port}`

  expect(await tryOut(`${url}&sslmode=verify-full`)).toContain('password authentication failed')
})

testAlone('sends no password to a server without TLS if TLS is required', async () => {
  const received: string[] = []
  // Refuses TLS (the byte N), and records what it receives.
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket, data) {
        received.push(data.toString('latin1'))
        socket.write('N')
      },
    },
  })
  try {
    const base = `postgres://admin:geheim@127.0.0.1:${server.port}/postgres`
    for (const mode of ['require', 'verify-ca', 'verify-full']) {
      expect(await tryOut(`${base}?sslmode=${mode}`)).toContain('(ERR_POSTGRES_TLS_NOT_AVAILABLE)')
    }
    expect(received).toHaveLength(3)
    expect(received.join('')).not.toContain('admin')
  } finally {
    server.stop(true)
  }
})

test('ignores variables that would weaken it', async (server) => {
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0', PGSSLMODE: 'disable' }
  const url = urlOf(server, 'localhost', 'sslmode=verify-full')

  expect(await refusalOn(url, ['check'], { env })).toContain('; add the CA to the URL')
})
