// Apache in front of plantstore.
import { need, sh, startServer } from '../faults/lab.ts'
import { type Case, page, writeProxyFile } from './case.ts'
import { checkProxy, checkReplacedConnections, checkSocket, makeCertificate } from './proxy.ts'

export const apache: Case = {
  name: 'apache',
  about:
    'Apache keeps connections, passes errors on, compresses, and survives restarts of plantstore',
  install: () => need('apache2', 'openssl'),
  async run() {
    const file = writeProxyFile('apache.conf')
    await makeCertificate()
    const [, enable = ''] = /`sudo (a2enmod [^`]+)`/.exec(page) ?? []
    await sh('sh', '-c', enable)
    await sh('apache2ctl', 'configtest')
    await checkProxy(
      () => startServer('apache2ctl', '-D', 'FOREGROUND'),
      { reads: [0, 503], creates: [0, 503] },
      checkReplacedConnections,
    )
    await checkSocket(file, () => sh('apache2ctl', 'graceful'))
  },
}
