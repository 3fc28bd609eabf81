// nginx in front of plantstore.
import { readFileSync, writeFileSync } from 'node:fs'
import { need, sh } from '../faults/lab.ts'
import { type Case, expect, startServer, writeFiles } from './case.ts'
import {
  checkConditions,
  checkConnections,
  checkErrors,
  checkRestarts,
  checkStream,
  checkUp,
  makeCertificate,
  SOCKET,
  socketLine,
  startPlantstore,
} from './proxy.ts'

export const nginx: Case = {
  name: 'nginx',
  about:
    'nginx keeps connections, passes errors on, compresses, and survives restarts of plantstore',
  install: () => need('nginx', 'openssl'),
  async run() {
    const [file = ''] = writeFiles('Behind nginx')
    await makeCertificate()
    await sh('nginx', '-t')
    const daemon = await startPlantstore('--keep-changes', '1d')
    startServer('nginx', '-g', 'daemon off;')
    await checkUp()
    const kept = await checkConnections()
    await checkErrors()
    const tag = await checkConditions(daemon)
    const followed = await checkStream(daemon)
    const restarts = await checkRestarts(daemon, { reads: [502], creates: [502] })
    const log = readFileSync('/var/log/nginx/error.log', 'utf8').split('\n')
    const errors = log.filter((line) => / \[(error|crit|alert)\] /.test(line))
    const unexpected = errors.filter((line) => !line.includes('Connection refused'))
    expect(unexpected.length === 0, `${unexpected.length} errors in nginx: ${unexpected[0]}`)

    const { instead, write } = socketLine('nginx')
    writeFileSync(file, readFileSync(file, 'utf8').replace(instead, write))
    await startPlantstore('--unix', SOCKET, '--unix-mode', '0666')
    await sh('nginx', '-s', 'reload')
    await checkUp()
    return `${kept}; ${tag}; ${followed}; ${restarts}`
  },
}
