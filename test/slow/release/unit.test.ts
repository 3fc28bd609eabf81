// The systemd unit, as systemd's own tools judge it. packages.test.ts runs it.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, temporaryFolder } from '../../harness/daemon'
import { run } from '../../harness/process'
import { has } from './lab'

setDefaultTimeout(300_000)

const unit = join(root, 'deploy/plantstore.service')
const hasSystemd = await has('systemd-analyze')

test.skipIf(!hasSystemd).each([
  ['plantstore.service', 'plantstore.service'],
  ['plantstore-forward@.service', 'plantstore-forward@orders.service'],
])('systemd-analyze verify is silent about %s', async (name, instance) => {
  using folder = temporaryFolder()
  const verify = async (text: string) => {
    writeFileSync(folder.file(name), text)
    const command = ['systemd-analyze', 'verify', '--recursive-errors=no', folder.file(instance)]
    const { out, err, code } = await run(command)
    // Units of other packages on this machine are reported too.
    return { out, err: err.split('\n').filter((line) => line.includes('plantstore')), code }
  }
  // It looks for the program, which is not installed here.
  const text = readFileSync(join(root, 'deploy', name), 'utf8').replaceAll(
    '/usr/bin/plantstore',
    process.execPath,
  )
  expect(await verify(text)).toEqual({ out: '', err: [], code: 0 })
  expect((await verify(text.replace('RestartSec', 'RestartSeconds'))).err).toEqual([
    expect.stringContaining('Unknown key'),
  ])
})

test.skipIf(!hasSystemd)('systemd-analyze security scores the service at most 1.5', async () => {
  const { out } = await run(['systemd-analyze', 'security', '--offline=yes', '--no-pager', unit])
  expect(Number(/exposure level for \S+: ([\d.]+)/.exec(out)?.[1])).toBeLessThanOrEqual(1.5)
})
