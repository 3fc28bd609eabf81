// Certificates of tests, made by openssl: a CA, and servers that it vouches for.
import { readFileSync, writeFileSync } from 'node:fs'
import type { Folder } from './folder'

function openssl(...args: readonly string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(['openssl', ...args])
  if (exitCode !== 0) throw new Error(stderr.toString())
}

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

/** Makes a CA in a folder. */
export function makeCa(folder: Folder, name: string) {
  const [cert, key] = [folder.file(`${name}.pem`), folder.file(`${name}.key`)]
  openssl(
    ...['req', '-x509', ...KEY, '-keyout', key, '-out', cert, '-days', '30'],
    ...['-subj', `/CN=${name}`, '-addext', 'basicConstraints=critical,CA:TRUE'],
  )
  return {
    /** The file of its certificate. */
    cert,
    /** The options of a PostgreSQL server with a certificate for localhost. */
    serverOptions() {
      const { cert, key } = this.sign('DNS:localhost')
      return {
        settings: { ssl: 'on', ssl_cert_file: 'server.pem', ssl_key_file: 'server.key' },
        files: { 'server.pem': cert, 'server.key': key },
      }
    },
    /**
     * Signs a certificate for names, such as `DNS:localhost`; returns both as PEM. Expired where `days` is negative.
     */
    sign(names: string, days = 30) {
      const [csr, own, extensions] = ['server.csr', 'server.key', 'extensions'].map(folder.file)
      const out = folder.file('server.pem')
      openssl('req', ...KEY, '-keyout', own ?? '', '-out', csr ?? '', '-subj', '/CN=server')
      writeFileSync(extensions ?? '', `subjectAltName=${names}\n`)
      openssl(
        ...['x509', '-req', '-in', csr ?? '', '-CA', cert, '-CAkey', key, '-CAcreateserial'],
        ...['-days', String(days), '-out', out, '-extfile', extensions ?? ''],
      )
      return { cert: readFileSync(out, 'utf8'), key: readFileSync(own ?? '', 'utf8') }
    },
  }
}
