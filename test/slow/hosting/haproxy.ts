// HAProxy in front of plantstore.
import { readFileSync, writeFileSync } from 'node:fs'
import { need, sh, startServer } from '../faults/lab.ts'
import { type Case, HOST, writeProxyFile } from './case.ts'
import { CERTIFICATE, checkProxy, checkSocket, makeCertificate, PRIVATE_KEY } from './proxy.ts'

const BOTH = `/etc/haproxy/${HOST}.pem`

export const haproxy: Case = {
  name: 'haproxy',
  about:
    'HAProxy keeps connections, passes errors on, compresses, and lets requests wait for a restart of plantstore',
  install: () => need('haproxy', 'openssl'),
  async run() {
    const file = writeProxyFile('haproxy.cfg')
    await makeCertificate()
    writeFileSync(BOTH, readFileSync(CERTIFICATE, 'utf8') + readFileSync(PRIVATE_KEY, 'utf8'))
    await sh('haproxy', '-c', '-f', file)
    const start = () => startServer('haproxy', '-f', file)
    let server: ReturnType<typeof start> | undefined
    const restart = async () => {
      await server?.kill()
      server = start()
    }
    await checkProxy(restart, { reads: [], creates: [] })
    await checkSocket(file, restart)
  },
}
