// HAProxy in front of plantstore.
import { readFileSync, writeFileSync } from 'node:fs'
import { need, sh } from '../faults/lab.ts'
import { type Case, HOST, startServer, writeFiles } from './case.ts'
import {
  CERTIFICATE,
  checkConditions,
  checkConnections,
  checkErrors,
  checkRestarts,
  checkStream,
  checkUp,
  makeCertificate,
  PRIVATE_KEY,
  SOCKET,
  socketLine,
  startPlantstore,
} from './proxy.ts'

const BOTH = `/etc/haproxy/${HOST}.pem`

export const haproxy: Case = {
  name: 'haproxy',
  about:
    'HAProxy keeps connections, passes errors on, compresses, and lets requests wait for a restart of plantstore',
  install: () => need('haproxy', 'openssl'),
  async run() {
    const [file = ''] = writeFiles('Behind HAProxy')
    await makeCertificate()
    writeFileSync(BOTH, readFileSync(CERTIFICATE, 'utf8') + readFileSync(PRIVATE_KEY, 'utf8'))
    await sh('haproxy', '-c', '-f', file)
    const daemon = await startPlantstore('--keep-changes', '1d')
    const server = startServer('haproxy', '-f', file)
    await checkUp()
    const kept = await checkConnections()
    await checkErrors()
    const tag = await checkConditions(daemon)
    const followed = await checkStream(daemon)
    const restarts = await checkRestarts(daemon, { reads: [], creates: [] })

    await server.kill()
    const { instead, write } = socketLine('HAProxy')
    writeFileSync(file, readFileSync(file, 'utf8').replace(instead, write))
    await startPlantstore('--unix', SOCKET, '--unix-mode', '0666')
    startServer('haproxy', '-f', file)
    await checkUp()
    return `${kept}; ${tag}; ${followed}; ${restarts}`
  },
}
