// nginx in front of plantstore.
import { readFileSync, writeFileSync } from 'node:fs'
import { head } from '../../harness/http.ts'
import { until } from '../faults/fault.ts'
import { need, sh } from '../faults/lab.ts'
import { type Case, expect, HOST, page, startServer, writeFiles } from './case.ts'
import {
  checkConnections,
  checkErrors,
  checkRestarts,
  checkStream,
  send,
  startPlantstore,
} from './proxy.ts'

const CERTIFICATES = `/etc/letsencrypt/live/${HOST}`
const PORT = 'server 127.0.0.1:3000;'
const SOCKET = 'server unix:/run/plantstore/plantstore.sock;'

const isUp = () =>
  until(10_000, () =>
    send(head('GET /health', { host: HOST })).then(
      ({ status }) => status === 200,
      () => false,
    ),
  )

export const nginx: Case = {
  name: 'nginx',
  about: 'nginx keeps connections, passes errors on, and survives restarts of plantstore',
  install: () => need('nginx', 'openssl'),
  async run() {
    const [file = ''] = writeFiles('Behind nginx')
    await sh('mkdir', '-p', CERTIFICATES)
    await sh(
      ...['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', `/CN=${HOST}`],
      ...['-out', `${CERTIFICATES}/fullchain.pem`, '-keyout', `${CERTIFICATES}/privkey.pem`],
    )
    await sh('nginx', '-t')
    const daemon = await startPlantstore('--keep-changes', '1d')
    startServer('nginx', '-g', 'daemon off;')
    expect(await isUp(), 'nginx does not answer')
    const kept = await checkConnections()
    await checkErrors()
    const followed = await checkStream(daemon)
    const restarts = await checkRestarts(daemon, { reads: [502], creates: [502] })
    const log = readFileSync('/var/log/nginx/error.log', 'utf8').split('\n')
    const errors = log.filter((line) => / \[(error|crit|alert)\] /.test(line))
    const unexpected = errors.filter((line) => !line.includes('Connection refused'))
    expect(unexpected.length === 0, `${unexpected.length} errors in nginx: ${unexpected[0]}`)

    // The line for a unix socket, as the page says.
    expect(page.includes(`\`${SOCKET}\` for\n\`${PORT}\``), 'the page has no line for a socket')
    writeFileSync(file, readFileSync(file, 'utf8').replace(PORT, SOCKET))
    await startPlantstore('--unix', '/run/plantstore/plantstore.sock', '--unix-mode', '0666')
    await sh('nginx', '-s', 'reload')
    expect(await isUp(), 'nginx does not answer by the socket')
    return `${kept}; ${followed}; ${restarts}`
  },
}
