// What commands say while no name server answers.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { refusalOf } from '../harness/commands'
import { PATIENCE_MS, runProgram, temporaryFolder } from '../harness/daemon'

setDefaultTimeout(PATIENCE_MS)

/** A command line that runs another, whose name server is one on which nothing listens. */
const withoutNameServer = (file: string) => [
  ...['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c'],
  `echo nameserver 127.0.0.9 > '${file}' && mount --bind '${file}' /etc/resolv.conf && exec "$@"`,
  'sh',
]

function hasNamespaces(): boolean {
  using folder = temporaryFolder()
  return Bun.spawnSync([...withoutNameServer(folder.file('resolv.conf')), 'true']).exitCode === 0
}

test.skipIf(!hasNamespaces()).each([
  [
    ['health', '--host', 'nope.invalid'],
    'no answer from http://nope.invalid:3000: EAI_AGAIN; check http:// or https://',
  ],
  [
    ['check', '--database', 'postgres://u@nope.invalid/plants'],
    'cannot connect to PostgreSQL at nope.invalid:5432: cannot resolve host nope.invalid (EAI_AGAIN)',
  ],
])('the message of %j names the host that no name server resolves', async (args, reason) => {
  using folder = temporaryFolder()
  const under = withoutNameServer(folder.file('resolv.conf'))
  expect(refusalOf(await runProgram(args, { under }))).toBe(reason)
})
