// A server whose name gets another address, as in a failover of a managed server.

import { expect } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { freePort } from '../../../tools/free-port'
import { startProxy } from '../../harness/cuttable'
import { startDaemon } from '../../harness/daemon'
import { ownFolder } from '../../harness/own-folder'
import { onServers } from '../../harness/own-server'
import { newDatabase } from '../../harness/postgres-store'

const NAME = 'moves.test'

/** A command line that runs another with a private hosts file. */
const withHosts = (hosts: string) => [
  ...['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c'],
  `mount --bind '${hosts}' /etc/hosts && exec "$@"`,
  'sh',
]

const hasNamespaces = Bun.spawnSync([...withHosts('/etc/hosts'), 'true']).exitCode === 0

const test = onServers('a name of %s', { canRun: hasNamespaces })

const folder = ownFolder()

test('leads to its new address within seconds', async (server) => {
  const hosts = folder.file('hosts')
  // Written in place: a new file would not be mounted.
  const pointTo = (address: string) =>
    writeFileSync(hosts, `${readFileSync('/etc/hosts', 'utf8')}\n${address} ${NAME}\n`)
  pointTo('127.0.0.2')
  const port = freePort()
  const old = startProxy(server.port, { hostname: '127.0.0.2', port })
  using _moved = startProxy(server.port, { hostname: '127.0.0.3', port })
  const url = (await newDatabase(server)).replace(/127\.0\.0\.1:\d+/, `${NAME}:${port}`)
  await using daemon = await startDaemon({
    under: withHosts(hosts),
    env: { PLANTSTORE_DATABASE: `${url}?sslmode=disable` },
  })
  expect((await daemon.create('{"id":1,"name":"one"}')).status).toBe(200)

  pointTo('127.0.0.3')
  old[Symbol.dispose]()

  expect(Number((await daemon.event('server-found')).milliseconds)).toBeLessThan(10_000)
  expect((await daemon.create('{"id":2,"name":"two"}')).status).toBe(200)
})
