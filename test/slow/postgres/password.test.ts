import { expect } from 'bun:test'
import { chmodSync, readFileSync } from 'node:fs'
import { PASSWORD, type PostgresServer } from '../../../tools/postgres/server'
import { startDaemon } from '../../harness/daemon'
import { ownFolder } from '../../harness/own-folder'
import { onServers } from '../../harness/own-server'
import { runOn } from '../../harness/postgres-store'
import { until } from '../../harness/until'

const test = onServers('the password of %s', { isNewest: true })

const folder = ownFolder()

/** The three ways to pass the password. */
async function environments(server: PostgresServer): Promise<Record<string, string>[]> {
  const PLANTSTORE_DATABASE = server.url().replace(`:${PASSWORD}`, '')
  await Bun.write(folder.file('password'), `${PASSWORD}\n`)
  return [
    { PLANTSTORE_DATABASE: server.url() },
    { PLANTSTORE_DATABASE, PGPASSWORD: PASSWORD },
    { PLANTSTORE_DATABASE, PLANTSTORE_DATABASE_PASSWORD_FILE: folder.file('password') },
  ]
}

test('is not shown by a daemon that loses its server and crashes', async (server) => {
  for (const env of await environments(server)) {
    const args = ['--log-requests']
    await using daemon = await startDaemon({ args, env })
    const output = [readFileSync(`/proc/${daemon.pid}/cmdline`, 'latin1')]
    const hear = async (path: string) => {
      const answer = await daemon.fetch(path)
      output.push(JSON.stringify([...answer.headers]), await answer.text())
    }
    await daemon.create('{"id":1,"name":"Rose"}')
    await hear('/plants/1')
    await hear('/metrics')
    await server.stop()
    await hear('/plants/1')
    await hear('/health')
    await hear('/metrics')
    await server.start()
    await until('health', async () => (await daemon.fetch('/health')).status === 200)
    // Like a bug of the runtime, which prints a report.
    daemon.signal('SIGSEGV')
    await daemon.finished

    output.push(daemon.out(), daemon.err())
    expect(daemon.err()).toContain('"listening"')
    expect(output.join('\n')).not.toContain(PASSWORD)
  }
})

test('is warned about if every user can read its file', async (server) => {
  const [, , env = {}] = await environments(server)
  for (const mode of [0o644, 0o640]) {
    chmodSync(folder.file('password'), mode)
    await using daemon = await startDaemon({ env })
    await daemon.stop()

    expect(daemon.err().includes('"secret-readable"')).toBe(mode === 0o644)
  }
})

test('is not shown by a command that fails', async (server) => {
  const wrongUrls = [
    'sslmode=verify-full&sslrootcert=/missing',
    'sslmode=require',
    'sslmode=nope',
    'nope=1',
    'search_path=nope',
  ]
  for (const query of wrongUrls) {
    for (const args of [['check'], ['serve', '--port', '0'], ['token', 'list'], ['export']]) {
      const { out, err, code } = await runOn(`${server.url()}?${query}`, args)
      expect({ args, query, isRefused: code === 1 || code === 2 }).toEqual({
        args,
        query,
        isRefused: true,
      })
      expect(err).toMatch(/^plantstore: [^\n]+\n$/)
      expect(out + err).not.toContain(PASSWORD)
    }
  }
})
