// Caddy in front of plantstore.
import { writeFileSync } from 'node:fs'
import { need, sh, startServer } from '../faults/lab.ts'
import { type Case, writeProxyFile } from './case.ts'
import { checkProxy } from './proxy.ts'

// Here nobody gives certificates: Caddy makes its own.
const OWN = '/etc/caddy/own'

export const caddy: Case = {
  name: 'caddy',
  about:
    'Caddy keeps connections, passes errors on, compresses, and lets requests wait for a restart of plantstore',
  install: () => need('caddy'),
  async run() {
    const file = writeProxyFile('Caddyfile')
    writeFileSync(OWN, `{\n\tlocal_certs\n\tskip_install_trust\n}\nimport ${file}\n`)
    await sh('caddy', 'validate', '--config', file, '--adapter', 'caddyfile')
    const version = await sh('caddy', 'version')
    // An older one cannot wait with a request that has a body (caddyserver/caddy#7546).
    const canWait = Bun.semver.satisfies(version.replace(/^v| .*$/g, ''), '>=2.11.2')
    await checkProxy(() => startServer('caddy', 'run', '--config', OWN, '--adapter', 'caddyfile'), {
      reads: [],
      creates: canWait ? [] : [502],
    })
  },
}
