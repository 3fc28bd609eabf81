// An old primary that boots again after a failover: it accepts writes, but must not be used.

import { expect, setDefaultTimeout } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { openStore } from '../../../src/engine/engine'
import { storeReader } from '../../../src/engine/store-user'
import type { ErrorName } from '../../../src/request-errors'
import { freePort } from '../../../tools/free-port'
import {
  type Installation,
  PASSWORD,
  type PostgresServer,
  startPostgres,
} from '../../../tools/postgres/server'
import { startProxy } from '../../harness/cuttable'
import { PATIENCE_MS } from '../../harness/daemon'
import { onInstallations, onServers } from '../../harness/own-server'
import {
  alterSystem,
  errorOf,
  type Logged,
  openAt,
  refusalOn,
  runOn,
  terminateSessions,
  untilCreated,
} from '../../harness/postgres-store'
import { range } from '../../harness/tested-store'
import { until } from '../../harness/until'

setDefaultTimeout(2 * PATIENCE_MS)

const urlOf = (ports: readonly number[], name = 'plants') =>
  `postgres://admin:${PASSWORD}@${ports.map((port) => `127.0.0.1:${port}`)}/${name}?connect_timeout=2`

const idsOn = async (server: PostgresServer): Promise<number[]> => {
  const rows = await server.query('SELECT id::int AS id FROM plants ORDER BY id', 'plants')
  return rows.map(({ id }: { id: number }) => id)
}

/** Resolves once a standby has the first plant: it may lack the table before. */
const untilReplayed = (standby: PostgresServer): Promise<unknown> =>
  until('the plant', () =>
    idsOn(standby).then(
      ({ length }) => length,
      () => 0,
    ),
  )

const promote = (standby: PostgresServer) => standby.query('SELECT pg_promote()')

/** A primary, its standby, and a store whose connections to the standby's port a test can cut. */
async function startPair(installation: Installation) {
  const primary = await startPostgres(installation)
  await primary.createDatabase('plants')
  const standby = await startPostgres(installation, { standbyOf: primary })
  const proxy = startProxy(standby.port)
  const events: Logged[] = []
  const store = await openAt(urlOf([primary.port, proxy.port]), events)
  await store.createPlant({ id: 1n, name: 'one' })
  return {
    primary,
    standby,
    proxy,
    store,
    events,
    has: (event: string) => events.some((logged) => logged.event === event),
    /** Promotes the standby, which has all of it, in the place of the primary, which stops. */
    async failOver(): Promise<void> {
      await untilReplayed(standby)
      await primary.stop('SIGQUIT')
      await promote(standby)
    },
    async [Symbol.asyncDispose]() {
      await store.close().catch(() => {})
      proxy[Symbol.dispose]()
      await standby[Symbol.asyncDispose]()
      await primary[Symbol.asyncDispose]()
    },
  }
}

const SUBJECT = 'an old primary of %s'
const testPair = onInstallations(SUBJECT, { needs: 'pg_basebackup' })
const testAlone = onInstallations(SUBJECT)
const test = onServers(SUBJECT)

testPair('never gets a daemon back', async (installation) => {
  await using pair = await startPair(installation)
  const { primary, standby, store } = pair
  await pair.failOver()
  for (const plant of range(10, 5)) await store.createPlant(plant)
  await primary.start()

  pair.proxy.cut()
  for (const plant of range(20, 5)) await store.createPlant(plant)

  expect(await idsOn(primary)).toEqual([1])
  expect(await idsOn(standby)).toHaveLength(11)
  expect(pair.has('acknowledged-lost')).toBeFalse()
  expect(pair.events).toContainEqual({
    event: 'server-passed-over',
    host: `127.0.0.1:${primary.port}`,
    detail: expect.any(String),
  })
})

testPair('is not used while the new one restarts', async (installation) => {
  await using pair = await startPair(installation)
  const { primary, standby, store } = pair
  await pair.failOver()
  await store.createPlant({ id: 2n, name: 'two' })
  await primary.start()

  await standby.stop()
  const refusal = await errorOf(store.createPlant({ id: 3n, name: 'three' }))
  await standby.start()
  await untilCreated(store, 4n)

  expect(refusal).toBe('storage failed')
  expect(JSON.stringify(pair.events)).toContain('lacks acknowledged writes')
  expect(await idsOn(primary)).toEqual([1])
  expect(await idsOn(standby)).toEqual([1, 2, 4])
})

testPair('is not used at a start while the new one starts up', async (installation) => {
  await using pair = await startPair(installation)
  const { primary, standby } = pair
  await pair.failOver()
  await pair.store.createPlant({ id: 2n, name: 'two' })
  // Its recovery asks for archived files first, and then begins another timeline.
  await standby.query("ALTER SYSTEM SET restore_command = 'sleep 1; false'")
  await standby.query('ALTER SYSTEM SET hot_standby = off')
  await standby.stop()
  writeFileSync(`${standby.folder}/data/recovery.signal`, '')
  await primary.start()
  const starting = standby.start().catch(() => {})
  await until('a server that starts up', () =>
    standby.query('SELECT').then(
      () => false,
      ({ errno }) => errno === '57P03',
    ),
  )
  const events: Logged[] = []

  const store = await openAt(urlOf([primary.port, standby.port]), events)
  await store.createPlant({ id: 3n, name: 'three' })

  expect(await idsOn(primary)).toEqual([1])
  expect(await idsOn(standby)).toEqual([1, 2, 3])
  expect(events).toContainEqual({
    event: 'server-starting',
    host: `127.0.0.1:${standby.port}`,
    detail: expect.stringContaining('starting up'),
  })
  await starting
  await store.close()
})

testPair(
  'is refused, and so is the new one, if it alone has acknowledged writes',
  async (installation) => {
    await using pair = await startPair(installation)
    const { primary, standby, store } = pair
    await standby.query('SELECT pg_wal_replay_pause()')
    await until('a pause', async () => {
      const [row] = await standby.query('SELECT pg_get_wal_replay_pause_state() AS state')
      return row?.state === 'paused'
    })
    await alterSystem(standby, "SET primary_conninfo = ''")
    await standby.query('SELECT pg_wal_replay_resume()')
    for (const plant of range(10, 5)) await store.createPlant(plant)
    await promote(standby)

    await terminateSessions(primary)
    await until('the reason', () => JSON.stringify(pair.events).includes('two servers accept'))
    const { port } = primary

    expect(await errorOf(store.createPlant({ id: 30n, name: 'x' }))).toBe('storage failed')
    expect(JSON.stringify(pair.events)).toContain(`the newer, lacks some of 127.0.0.1:${port}`)
    await primary.stop()
    await untilCreated(store, 31n)
    expect(pair.has('acknowledged-lost')).toBeTrue()
  },
)

testPair('does not keep a daemon that has found it alone', async (installation) => {
  await using pair = await startPair(installation)
  const { primary, standby } = pair
  await pair.failOver()
  await pair.store.createPlant({ id: 2n, name: 'two' })
  await standby.stop()
  await primary.start()
  const url = urlOf([primary.port, standby.port])
  const events: Logged[] = []
  const store = await openAt(url, events)
  const reader = await openStore(url, storeReader())
  await store.createPlant({ id: 3n, name: 'three' })
  let acknowledged = 1
  expect(await reader.readPlant(2n)).toBeNull()

  await standby.start()
  let error: ErrorName | null = null
  for (let id = 100n; error === null; id += 1n) {
    error = await errorOf(store.createPlant({ id, name: 'x' }))
    if (error === null) acknowledged += 1
  }

  expect(error).toBe('storage failed')
  expect(JSON.stringify(events)).toContain('two servers accept writes')
  expect(events.map(({ event }) => event)).not.toContain('commit-in-doubt')
  await until('another host', async () => (await reader.readPlant(2n)) !== null)
  await primary.stop()
  await untilCreated(store, 5n)
  expect(await idsOn(standby)).toEqual([1, 2, 5])
  expect(events.map(({ event }) => event)).toContain('lane-gone')
  expect(events).toContainEqual({ event: 'acknowledged-lost', commits: acknowledged })
  expect(store.stats().server?.lostCommits).toBe(acknowledged)
  await store.close()
  await reader.close()
})

testPair('is not read by a command', async (installation) => {
  await using pair = await startPair(installation)
  const { primary, standby, store } = pair
  await primary.stop('SIGQUIT')
  await promote(standby)
  for (const plant of range(10, 5)) await store.createPlant(plant)
  await primary.start()
  const run = (...args: string[]) => runOn(urlOf([primary.port, standby.port]), args)

  expect((await run('check')).out).toStartWith('ok: 6 plants,')
  expect((await run('export')).err).toBe('exported 6 plants\n')
  expect((await run('token', 'create', 'laptop')).code).toBe(0)
  expect(await standby.query('SELECT name FROM tokens', 'plants')).toHaveLength(1)
  expect(await primary.query('SELECT name FROM tokens', 'plants')).toHaveLength(0)
})

testAlone(
  'is refused together with a server of different origin, both named',
  async (installation) => {
    await using first = await startPostgres(installation)
    await using second = await startPostgres(installation)
    for (const server of [first, second]) {
      await (await openAt(await server.createDatabase('plants'))).close()
    }
    const url = urlOf([first.port, second.port])

    for (const args of [
      ['export'],
      ['check'],
      ['token', 'create', 'a'],
      ['serve', '--port', '0'],
    ]) {
      expect(await refusalOn(url, args)).toContain(
        `two servers accept writes, 127.0.0.1:${first.port} and 127.0.0.1:${second.port}; stop the one`,
      )
    }
    for (const server of [first, second]) {
      expect(await server.query('SELECT FROM tokens', 'plants')).toHaveLength(0)
    }
  },
)

test('is suspected if another host has not answered', async (server) => {
  await server.createDatabase('suspected')
  const silentPort = freePort()
  const url = urlOf([silentPort, server.port], 'suspected')
  const detail = `connection refused; 127.0.0.1:${server.port} is used, and may be an old primary`
  const events: Logged[] = []
  await (await openAt(url, events, 1e9)).close()

  expect(events).toEqual([{ event: 'server-silent', host: `127.0.0.1:${silentPort}`, detail }])
  for (const args of [
    ['check'],
    ['export'],
    ['changes'],
    ['token', 'list'],
    ['token', 'create', 'laptop'],
  ]) {
    const { err, code } = await runOn(url, args)
    const warning = `plantstore: warning: 127.0.0.1:${silentPort}: ${detail}\n`
    expect({ args, code, err }).toEqual({ args, code: 0, err: expect.stringContaining(warning) })
  }
})

test('is not seen in a second address of one server', async (server) => {
  await server.createDatabase('twice')
  using proxy = startProxy(server.port)

  const store = await openAt(urlOf([proxy.port, server.port], 'twice'))
  proxy.cut()
  await store.createPlant({ id: 1n, name: 'one' })

  expect(store.stats().server).toMatchObject({ lostCommits: 0 })
  await store.close()
})

test('delays a command once if it does not answer, and a reconnect hardly at all', async (server) => {
  await server.createDatabase('delayed')
  const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  using proxy = startProxy(server.port)
  const store = await openAt(urlOf([silent.port, proxy.port], 'delayed'))
  await store.createPlant({ id: 1n, name: 'one' })

  proxy.cut()
  const cutAt = performance.now()
  await store.createPlant({ id: 2n, name: 'two' })

  expect(performance.now() - cutAt).toBeLessThan(1500)
  await store.close()
  silent.stop(true)
})
