import { expect, setDefaultTimeout, test } from 'bun:test'
import { PATIENCE_MS, runProgram, startDaemon, temporaryFolder } from './daemon'

setDefaultTimeout(PATIENCE_MS)

test('ends with 0 where a daemon is well', async () => {
  using folder = temporaryFolder()
  await using daemon = await startDaemon({ database: folder.file('plants.db') })
  const { port } = new URL(daemon.url)

  expect(await runProgram(['health', '--port', port])).toEqual({
    out: `ok ${daemon.url}/health\n`,
    err: '',
    code: 0,
  })
  const byEnvironment = await runProgram(['health'], { env: { PLANTSTORE_PORT: port } })
  expect(byEnvironment.code).toBe(0)
})

test('asks a daemon that listens on every address', async () => {
  using folder = temporaryFolder()
  const args = ['--host', '0.0.0.0']
  await using daemon = await startDaemon({ database: folder.file('plants.db'), args })
  const { port } = new URL(daemon.url)

  expect((await runProgram(['health', '--host', '0.0.0.0', '--port', port])).code).toBe(0)
})

test('ends with 1 and one line where no daemon answers', async () => {
  // Whatever had the port a moment ago.
  const server = Bun.serve({ port: 0, fetch: () => new Response() })
  const { port } = server
  await server.stop(true)

  const { out, err, code } = await runProgram(['health', '--port', String(port)])

  expect({ out, code }).toEqual({ out: '', code: 1 })
  expect(err).toMatch(new RegExp(`^plantstore: http://127.0.0.1:${port}/health .+\n$`))
})

test('ends with 1 and one line where something else answers', async () => {
  await using server = Bun.serve({ port: 0, fetch: () => new Response('no', { status: 404 }) })

  const { out, err, code } = await runProgram(['health', '--port', String(server.port)])

  expect({ out, code }).toEqual({ out: '', code: 1 })
  expect(err).toMatch(/^plantstore: .+ answers 404: no\n$/)
})
