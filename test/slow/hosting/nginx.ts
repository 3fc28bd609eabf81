// nginx in front of plantstore.
import { readFileSync } from 'node:fs'
import { need, sh, startServer } from '../faults/lab.ts'
import { type Case, expect, writeProxyFile } from './case.ts'
import { checkProxy, checkSocket, makeCertificate } from './proxy.ts'

export const nginx: Case = {
  name: 'nginx',
  about:
    'nginx keeps connections, passes errors on, compresses, and survives restarts of plantstore',
  install: () => need('nginx', 'openssl'),
  async run() {
    const file = writeProxyFile('nginx.conf')
    await makeCertificate()
    await sh('nginx', '-t')
    await checkProxy(() => startServer('nginx', '-g', 'daemon off;'), {
      reads: [502],
      creates: [502],
    })
    const log = readFileSync('/var/log/nginx/error.log', 'utf8').split('\n')
    const errors = log.filter((line) => / \[(error|crit|alert)\] /.test(line))
    const unexpected = errors.filter((line) => !line.includes('Connection refused'))
    expect(unexpected.length === 0, `${unexpected.length} errors in nginx: ${unexpected[0]}`)
    await checkSocket(file, () => sh('nginx', '-s', 'reload'))
  },
}
