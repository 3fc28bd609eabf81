// Apache in front of plantstore.
import { readFileSync, writeFileSync } from 'node:fs'
import { need, sh } from '../faults/lab.ts'
import { type Case, script, startServer, writeFiles } from './case.ts'
import {
  checkConditions,
  checkErrors,
  checkReplacedConnections,
  checkRestarts,
  checkStream,
  checkUp,
  makeCertificate,
  SOCKET,
  socketLine,
  startPlantstore,
} from './proxy.ts'

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
    const daemon = await startPlantstore('--keep-changes', '1d')
    startServer('apache2ctl', '-D', 'FOREGROUND')
    await checkUp()
    const kept = await checkReplacedConnections()
    await checkErrors()
    const tag = await checkConditions(daemon)
    const followed = await checkStream(daemon)
    const restarts = await checkRestarts(daemon, { reads: [0, 503], creates: [0, 503] })

    const { instead, write } = socketLine('Apache')
    writeFileSync(file, readFileSync(file, 'utf8').replace(instead, write))
    await startPlantstore('--unix', SOCKET, '--unix-mode', '0666')
    await sh('apache2ctl', 'graceful')
    await checkUp()
    return `${kept}; ${tag}; ${followed}; ${restarts}`
  },
}
