// Apache in front of plantstore.
import { need, sh } from '../faults/lab.ts'
import { type Case, script, startServer, writeFiles } from './case.ts'
import { checkProxy, checkReplacedConnections, checkSocket, makeCertificate } from './proxy.ts'

export const apache: Case = {
  name: 'apache',
  about:
    'Apache keeps connections, passes errors on, compresses, and survives restarts of plantstore',
  install: () => need('apache2', 'openssl'),
  async run() {
    const [file = ''] = writeFiles('Behind Apache')
    await makeCertificate()
    await sh('sh', '-c', script('Behind Apache'))
    await sh('apache2ctl', 'configtest')
    const seen = await checkProxy(
      () => startServer('apache2ctl', '-D', 'FOREGROUND'),
      { reads: [0, 503], creates: [0, 503] },
      checkReplacedConnections,
    )
    await checkSocket('Apache', file, () => sh('apache2ctl', 'graceful'))
    return seen
  },
}
