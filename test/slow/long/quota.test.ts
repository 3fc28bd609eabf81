// A disk quota that is exceeded is an I/O error to SQLite, but the disk has not failed.
import { expect, test } from 'bun:test'
import { startTemporary } from '../../harness/daemon'
import { expectError, storedPlants } from '../../harness/plants'
import { until } from '../../harness/until'

const canTrace = Bun.which('strace') !== null

test.skipIf(!canTrace)(
  'a daemon over its quota refuses changes with 50701, reads on, and recovers',
  async () => {
    await using daemon = await startTemporary()
    const { database } = daemon
    expect((await daemon.create('{"id":1,"name":"Rose"}')).status).toBe(200)

    const inject = ['-e', 'trace=pwrite64', '-e', 'inject=pwrite64:error=EDQUOT']
    const quota = Bun.spawn([
      'strace',
      '-f',
      '-qq',
      '-o',
      '/dev/null',
      ...inject,
      '-p',
      `${daemon.pid}`,
    ])
    await until('the first refusal', async () => {
      const id = Math.floor(Math.random() * 1e9) + 2
      return (await daemon.create(`{"id":${id},"name":"Lily"}`)).status === 507
    })
    const before = (await (await daemon.fetch('/plants?limit=1000')).json()) as { plants: object[] }
    await expectError(await daemon.create('{"id":3,"name":"Lily"}'), 50701)
    expect(await expectError(await daemon.fetch('/health'), 50302)).toContain('disk full')
    expect((await daemon.fetch('/plants/1')).status).toBe(200)
    expect(await (await daemon.fetch('/plants?limit=1000')).json()).toEqual(before)
    quota.kill()
    await quota.exited

    await daemon.event('writable-again')
    expect((await daemon.create('{"id":4,"name":"Oak"}')).status).toBe(200)
    expect(await daemon.stop()).toBe(0)
    expect(storedPlants(database)).toHaveLength(before.plants.length + 1)
  },
)
