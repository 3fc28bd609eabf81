// Builds an image with docker or podman, and spends a day in the life of its daemon.
import { TOKEN } from '../../harness/daemon'
import { run } from '../../harness/process'
import { until } from '../../harness/until'
import { sh } from '../release/lab'

/** The base images of a Dockerfile. */
const basesOf = (dockerfile: string): string[] =>
  [...dockerfile.matchAll(/^FROM (?:--\S+ )*(\S+)/gm)].map(([, image = '']) => image)

/** The first engine that runs here and can pull the base images; null: none. */
export async function findEngine(dockerfile: string): Promise<string | null> {
  const succeeds = async (...command: string[]) => (await run(command, { env: Bun.env })).code === 0
  for (const engine of ['docker', 'podman']) {
    if (Bun.which(engine) === null || !(await succeeds(engine, 'info'))) continue
    const pulled = await Promise.all(basesOf(dockerfile).map((it) => succeeds(engine, 'pull', it)))
    if (pulled.every(Boolean)) return engine
  }
  return null
}

/** Builds the image of a folder, creates a plant in a container, restarts it and reads the plant. Removes all of it. */
export async function tryImage(engine: string, folder: string): Promise<void> {
  const name = `plantstore-test-${process.pid}`
  const it = (...args: string[]) => sh([engine, ...args])
  const isHealthy = async () =>
    (await run([engine, 'exec', name, 'plantstore', 'health'], { env: Bun.env })).code === 0
  const request = async (path: string, json?: object) => {
    const address = (await it('port', name, '3000')).trim().split('\n')[0]
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
    const body = json ? { method: 'POST', body: JSON.stringify(json) } : {}
    return await (await fetch(`http://${address}${path}`, { headers, ...body })).text()
  }
  const healthy = () =>
    until('a healthy container', isHealthy).catch(async (error) => {
      throw new Error(`${error.message}: ${await it('logs', name)}`)
    })
  const expectAnswer = (answer: string, expected: string) => {
    if (answer !== expected) throw new Error(`answered ${answer}, not ${expected}`)
  }

  await it('build', '--tag', name, folder)
  try {
    const flags = ['--publish', '127.0.0.1::3000', '--read-only', '--volume', `${name}:/data`]
    await it(
      'run',
      '--detach',
      '--name',
      name,
      '--env',
      `PLANTSTORE_TOKEN=${TOKEN}`,
      ...flags,
      name,
    )
    await healthy()
    expectAnswer(await request('/plants', { id: 1, name: 'Rose' }), '{"name":"Rose"}')
    await it('restart', name)
    await healthy()
    expectAnswer(await request('/plants/1'), '{"id":1,"name":"Rose"}')
  } finally {
    await run([engine, 'rm', '--force', name], { env: Bun.env })
    await run([engine, 'volume', 'rm', name], { env: Bun.env })
    await run([engine, 'rmi', '--force', name], { env: Bun.env })
  }
}
