// A store while its server hangs, is down, or refuses every write.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { once } from 'node:events'
import { type AddressInfo, createServer, connect as openSocket } from 'node:net'
import { openStore } from '../../../src/engine/engine'
import { chooseHost, connect } from '../../../src/engine/postgres/connecting/hosts'
import { Primary } from '../../../src/engine/postgres/connecting/primary'
import { createServerState } from '../../../src/engine/postgres/connecting/refusals'
import { storeGuest, storeOwner } from '../../../src/engine/store-user'
import { type PostgresServer, startPostgres } from '../../../tools/postgres/server'
import { startProxy } from '../../harness/cuttable'
import { PATIENCE_MS } from '../../harness/daemon'
import { describeServers } from '../../harness/own-server'
import { errorOf, type Logged, newDatabase, openAt, targetOf } from '../../harness/postgres-store'
import { until } from '../../harness/until'

setDefaultTimeout(PATIENCE_MS)

/** A store behind a proxy, which has made a plant. */
async function openCuttable(server: PostgresServer) {
  const url = await newDatabase(server)
  const proxy = startProxy(server.port)
  const store = await openAt(url.replace(/:\d+\//, `:${proxy.port}/`))
  await store.createPlant({ id: 1n, name: 'one' })
  return {
    store,
    proxy,
    query: (statement: string) => server.query(statement, url),
    async [Symbol.asyncDispose]() {
      await store.close()
      proxy[Symbol.dispose]()
    },
  }
}

describeServers('an outage of %s', (started, it) => {
  test('refuses the changes that come after one in doubt, which is answered once that is settled', async () => {
    const server = await started()
    await using it = await openCuttable(server)
    it.proxy.hold('requests', 'nine')
    const inDoubt = errorOf(it.store.createPlant({ id: 9n, name: 'nine' }))
    await it.proxy.untilHeld()
    await server.stop()
    it.proxy.cut()
    await Bun.sleep(50)

    const later = errorOf(it.store.createPlant({ id: 10n, name: 'ten' }))

    expect(await later).toBe('cannot write')
    expect(await errorOf(it.store.createPlant({ id: 11n, name: 'eleven' }))).toBe('cannot write')
    await server.restart()
    // It waited longer than a change may, and was not made.
    expect(await inDoubt).toBe('cannot write')
    await until('a writable store', () => it.store.stats().problem === null)
    await it.store.createPlant({ id: 12n, name: 'twelve' })
    for (const id of [9n, 10n, 11n]) expect(await it.store.readPlant(id)).toBeNull()
  })

  test('begins when a newer plantstore has migrated the schema, and ends when it is as it was', async () => {
    const events: Logged[] = []
    const url = await newDatabase(await started())
    using proxy = startProxy(Number(new URL(url).port))
    const store = await openAt(url.replace(/:\d+\//, `:${proxy.port}/`), events)
    const migrate = async (by: number) =>
      (await started()).query(`UPDATE plantstore_schema SET version = version + ${by}`, url)

    await migrate(1)
    proxy.cut()
    await until('the next attempt', () => events.some(({ event }) => event === 'server-still-lost'))

    expect(store.stats().problem).not.toBeNull()
    expect(JSON.stringify(events)).toContain('was written by a newer plantstore')
    await migrate(-1)
    await store.createPlant({ id: 1n, name: 'one' })
    await store.close()
  })

  test('is not risked at an address that resolves to two servers', async () => {
    const url = await newDatabase(await started())
    await using other = await startPostgres(it)
    await (await openAt(await other.createDatabase(url.slice(url.lastIndexOf('/') + 1)))).close()
    let connections = 0
    const address = createServer((client) => {
      connections += 1
      const server = openSocket(connections % 2 === 1 ? Number(new URL(url).port) : other.port)
      client.pipe(server).pipe(client)
      for (const socket of [client, server]) socket.on('error', () => {})
    }).listen(0, '127.0.0.1')
    await once(address, 'listening')
    const { port } = address.address() as AddressInfo

    await expect(openAt(url.replace(/:\d+\//, `:${port}/`))).rejects.toThrow(
      'its address resolves to two servers',
    )
    address.close()
  })

  test('ends where a new connection hangs before it is used', async () => {
    await using it = await openCuttable(await started())
    it.proxy.cut()
    it.proxy.hold('requests', 'lock_timeout')
    const change = errorOf(it.store.createPlant({ id: 9n, name: 'nine' }))
    await it.proxy.untilHeld()
    it.proxy.release()

    expect(await change).toBeNull()
  })

  test('ends where the server sends locked rows to a connection that fell silent', async () => {
    await using it = await openCuttable(await started())
    const large = Array.from({ length: 20 }, (_, index) => BigInt(100 + index))
    for (const id of large) await it.store.createPlant({ id, name: 'x'.repeat(900_000) })
    // Prepares the statements, which are then sent together.
    for (const tag of ['x', 'y']) await it.store.patchPlant(100n, { tag })

    it.proxy.silence()
    const silentAt = performance.now()
    const changes = large.map((id) => errorOf(it.store.patchPlant(id, { tag: 'rare' })))
    await until(
      'a write',
      async () => !(await errorOf(it.store.createPlant({ id: 2n, name: 'b' }))),
    )

    // The deadlines of both ends are 5 s.
    expect(performance.now() - silentAt).toBeLessThan(20_000)
    expect(new Set(await Promise.all(changes)).size).toBe(1)
  })

  test('is logged as over before anything is sent to the server that was found', async () => {
    const target = targetOf(await newDatabase(await started()))
    const order: string[] = []
    const role = storeOwner(
      (_, event) => order.push(event),
      () => {},
    )
    const nothing = async () => {}
    const prepared = {
      choose: chooseHost,
      prepare: nothing,
      hasAll: async () => true,
    }
    const found = () => order.push('found')
    const primary = new Primary(target, role, createServerState(role), prepared, found)
    await primary.open()

    primary.lose(await primary.ready(0), new Error('cut'))
    await primary.ready(5000)

    expect(order).toEqual(['found', 'server-lost', 'server-found', 'found'])
    await primary.close()
  })

  test('is over for a command once its commit in doubt is settled', async () => {
    const url = await newDatabase(await started())
    using proxy = startProxy(Number(new URL(url).port))
    const through = url.replace(/:\d+\//, `:${proxy.port}/`)
    const store = await openStore(through, storeGuest({ makesDatabase: true }))
    await store.createPlant({ id: 1n, name: 'one' })
    proxy.hold('requests', 'two')
    const inDoubt = store.createPlant({ id: 2n, name: 'two' })
    await proxy.untilHeld()
    const cutAt = performance.now()
    proxy.cut()
    await inDoubt

    // As long as a command waits for a server, and longer.
    for (let id = 3n; performance.now() < cutAt + 11_000; id += 1n) {
      await store.createPlant({ id, name: 'later' })
    }
    await store.close()
  })

  test('is not a queue of queries that the server answers one after another', async () => {
    const server = await started()
    const connection = await connect(targetOf(await newDatabase(server)))
    const ask = (seconds: number) =>
      connection.within(500, connection.sql.unsafe('SELECT pg_sleep($1)', [seconds]))

    await Promise.all(Array.from({ length: 8 }, () => ask(0.2)))

    expect(connection.isLost).toBeFalse()
    expect(ask(5)).rejects.toThrow('no answer within 0.5 s')
    expect(ask(0.1)).rejects.toThrow()
    await Bun.sleep(1000)
    expect(connection.isLost).toBeTrue()
  })

  test('fails the probe while the server refuses every write', async () => {
    await using it = await openCuttable(await started())
    await it.query('ALTER TABLE lanes ADD CONSTRAINT full_lane CHECK (seq < 0) NOT VALID')
    await Bun.sleep(1000)

    expect(await errorOf(it.store.probe())).toBe('unexpected')
    expect(await errorOf(it.store.createPlant({ id: 9n, name: 'nine' }))).toBe('unexpected')
    await it.query('ALTER TABLE lanes DROP CONSTRAINT full_lane')
    await it.store.probe()
  })

  test('is said at the first start, where no standby confirms', async () => {
    const server = await started()
    const url = await newDatabase(server)
    const setStandby = async (name: string) => {
      await server.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
      await server.query('SELECT pg_reload_conf()')
      await Bun.sleep(200)
    }
    await setStandby('nobody')
    try {
      expect(await openAt(url).catch(({ message }) => message)).toContain('no answer within')
    } finally {
      await setStandby('')
    }
  })
})
