import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { connect } from '../../../src/engine/postgres/connection/hosts'
import { startPostgres } from '../../../tools/postgres/server'
import { makeCa } from '../../harness/certificates'
import { PATIENCE_MS, root } from '../../harness/daemon'
import { own as clientFiles } from '../../harness/own'
import { ownFolder } from '../../harness/own-folder'
import { describeServer, ownServer } from '../../harness/own-server'
import { targetOf } from '../../harness/postgres-store'
import { run } from '../../harness/process'

setDefaultTimeout(PATIENCE_MS)

describeServer(
  'a connection to %s with TLS',
  (_, installation) => {
    const folder = ownFolder()
    const [trusted, untrusted] = [folder.file('ca.pem'), folder.file('other.pem')]
    const ca = clientFiles(() => makeCa(folder, 'ca'))
    beforeAll(() => void makeCa(folder, 'other'))
    const startServer = ownServer(installation, () => {
      const { cert, key } = ca.sign('DNS:localhost')
      return {
        settings: { ssl: 'on', ssl_cert_file: 'server.pem', ssl_key_file: 'server.key' },
        files: { 'server.pem': cert, 'server.key': key },
      }
    })

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

    const urlOf = async (host: string, query: string): Promise<string> =>
      `${(await startServer()).url('postgres', host)}?${query}`

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
    ])('a connection to %s?%s ends as: %s', async (host, query, reason) => {
      expect(await tryOut(await urlOf(host, query))).toContain(reason)
    })

    test('sends the client certificate to a server that asks for one', async () => {
      const { cert, key } = ca.sign('DNS:localhost')
      const own = ca.sign('DNS:client')
      await Bun.write(folder.file('own.pem'), own.cert)
      await Bun.write(folder.file('own.key'), own.key)
      await using server = await startPostgres(installation, {
        settings: {
          ssl: 'on',
          ssl_cert_file: 'server.pem',
          ssl_key_file: 'server.key',
          ssl_ca_file: 'ca.pem',
        },
        files: {
          'server.pem': cert,
          'server.key': key,
          'ca.pem': await Bun.file(ca.cert).text(),
          'pg_hba.conf':
            'hostnossl all all 127.0.0.1/32 scram-sha-256\nhostssl all all 127.0.0.1/32 scram-sha-256 clientcert=verify-ca\n',
        },
      })
      const url = `${server.url('postgres', 'localhost')}?sslmode=verify-full&sslrootcert=${trusted}`

      expect(await tryOut(url)).toContain('client certificate')
      const files = `sslcert=${folder.file('own.pem')}&sslkey=${folder.file('own.key')}`
      expect(await tryOut(`${url}&${files}`)).toBe('encrypted')
      expect(await tryOut(`${url}&${files}x`)).toContain('cannot read sslkey')
    })

    test('never encrypts a unix socket', async () => {
      const server = await startServer()
      const url = `postgres://admin@/postgres?host=${server.folder}/socket&port=${server.port}`

      expect(await tryOut(`${url}&sslmode=verify-full`)).toContain('password authentication failed')
    })

    test('sends no password to a server without TLS if TLS is required', async () => {
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
          expect(await tryOut(`${base}?sslmode=${mode}`)).toContain(
            '(ERR_POSTGRES_TLS_NOT_AVAILABLE)',
          )
        }
        expect(received).toHaveLength(3)
        expect(received.join('')).not.toContain('admin')
      } finally {
        server.stop(true)
      }
    })

    test('ignores variables that would weaken it', async () => {
      const { out, err, code } = await run([join(root, 'dist/plantstore'), 'check'], {
        env: {
          PLANTSTORE_DATABASE: await urlOf('localhost', 'sslmode=verify-full'),
          NODE_TLS_REJECT_UNAUTHORIZED: '0',
          PGSSLMODE: 'disable',
        },
      })

      expect({ out, code }).toEqual({ out: '', code: 1 })
      expect(err).toContain('; add the CA to the URL')
    })
  },
  { canRun: Bun.which('openssl') !== null },
)
