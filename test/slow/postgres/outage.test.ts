// A store while its server hangs, is down, or refuses every write.
import { expect } from 'bun:test'
import { openStore } from '../../../src/engine/engine'
import { chooseHost, connect } from '../../../src/engine/postgres/connection/hosts'
import { Primary } from '../../../src/engine/postgres/connection/primary'
import { ServerState } from '../../../src/engine/postgres/connection/state'
import { commandUser, storeOwner } from '../../../src/engine/store-user'
import { startPostgres } from '../../../tools/postgres/server'
import { startProxy } from '../../harness/cuttable'
import { onServers } from '../../harness/own-server'
import {
  alterSystem,
  atPort,
  errorOf,
  nameOf,
  newDatabase,
  openAt,
  openCuttable,
  targetOf,
  untilCreated,
} from '../../harness/postgres-store'
import { until } from '../../harness/until'

const test = onServers('an outage of %s')

test('refuses changes behind a commit in doubt, which is answered once settled', async (server) => {
  await using fixture = await openCuttable(server)
  fixture.proxy.hold('requests', 'nine')
  const inDoubt = errorOf(fixture.store.createPlant({ id: 9n, name: 'nine' }))
  await fixture.proxy.untilHeld()
  await server.stop()
  fixture.proxy.cut()
  await Bun.sleep(50)

  const later = errorOf(fixture.store.createPlant({ id: 10n, name: 'ten' }))

  expect(await later).toBe('storage failed')
  expect(await errorOf(fixture.store.createPlant({ id: 11n, name: 'eleven' }))).toBe(
    'storage failed',
  )
  await server.start()
  // The change waited too long, and was not stored.
  expect(await inDoubt).toBe('storage failed')
  await until('a writable store', () => fixture.store.stats().problem === null)
  await fixture.store.createPlant({ id: 12n, name: 'twelve' })
  for (const id of [9n, 10n, 11n]) expect(await fixture.store.readPlant(id)).toBeNull()
})

test('prevents writes through an address that resolves to two servers', async (server) => {
  const url = await newDatabase(server)
  await using other = await startPostgres(server.installation)
  await (await openAt(await other.createDatabase(nameOf(url)))).close()
  let connections = 0
  using address = startProxy(() => (connections++ % 2 === 0 ? server.port : other.port))

  await expect(openAt(atPort(url, address.port))).rejects.toThrow(
    'its address resolves to two servers',
  )
})

test('ends even if a new connection hangs before its first use', async (server) => {
  await using fixture = await openCuttable(server)
  fixture.proxy.cut()
  fixture.proxy.hold('requests', 'plantstore_schema')
  const change = errorOf(fixture.store.createPlant({ id: 9n, name: 'nine' }))
  await fixture.proxy.untilHeld()
  fixture.proxy.release()

  expect(await change).toBeNull()
})

test('ends even if the server was sending locked rows to a silent connection', async (server) => {
  await using fixture = await openCuttable(server)
  const large = Array.from({ length: 20 }, (_, index) => BigInt(100 + index))
  for (const id of large) await fixture.store.createPlant({ id, name: 'x'.repeat(900_000) })
  // Prepares the statements, which are then sent together.
  for (const tag of ['x', 'y']) await fixture.store.patchPlant(100n, { tag })

  fixture.proxy.silence()
  const silentAt = performance.now()
  const changes = large.map((id) => errorOf(fixture.store.patchPlant(id, { tag: 'rare' })))
  await untilCreated(fixture.store, 2n)

  // The deadlines of both ends are 5 s.
  expect(performance.now() - silentAt).toBeLessThan(20_000)
  expect(new Set(await Promise.all(changes)).size).toBe(1)
})

test('is logged as over before anything is sent to the next server', async (server) => {
  const target = targetOf(await newDatabase(server))
  const order: string[] = []
  const role = storeOwner(
    (_, event) => order.push(event),
    () => {},
  )
  const doNothing = async () => {}
  const policy = {
    choose: chooseHost,
    prepare: doNothing,
    hasAll: async () => true,
  }
  const onFound = () => order.push('found')
  const primary = new Primary(target, role, new ServerState(role), policy, onFound)
  await primary.open()

  primary.lose(await primary.ready(0), new Error('cut'))
  await primary.ready(5000)

  expect(order).toEqual(['found', 'server-lost', 'server-found', 'found'])
  await primary.close()
})

test('is over for a command once its commit in doubt is settled', async (server) => {
  using proxy = startProxy(server.port)
  const url = atPort(await newDatabase(server), proxy.port)
  const store = await openStore(url, commandUser({ makesDatabase: true }))
  await store.createPlant({ id: 1n, name: 'one' })
  proxy.hold('requests', 'two')
  const inDoubt = store.createPlant({ id: 2n, name: 'two' })
  await proxy.untilHeld()
  const cutAt = performance.now()
  proxy.cut()
  await inDoubt

  // Longer than a command waits for a server.
  for (let id = 3n; performance.now() < cutAt + 11_000; id += 1n) {
    await store.createPlant({ id, name: 'later' })
  }
  await store.close()
})

test('does not begin while the server answers a queue of queries', async (server) => {
  const connection = await connect(targetOf(await newDatabase(server)))
  const ask = (seconds: number) =>
    connection.ask((sql) => sql.unsafe('SELECT pg_sleep($1)', [seconds]), 500)

  await Promise.all(Array.from({ length: 8 }, () => ask(0.2)))

  expect(connection.isLost).toBeFalse()
  expect(ask(5)).rejects.toThrow('no answer within 0.5 s')
  expect(ask(0.1)).rejects.toThrow()
  await Bun.sleep(1000)
  expect(connection.isLost).toBeTrue()
})

test('fails the probe while the server refuses every write', async (server) => {
  await using fixture = await openCuttable(server)
  await fixture.query('ALTER TABLE lanes ADD CONSTRAINT full_lane CHECK (seq < 0) NOT VALID')
  await Bun.sleep(1000)

  expect(await errorOf(fixture.store.probe())).toBe('storage failed')
  expect(await errorOf(fixture.store.createPlant({ id: 9n, name: 'nine' }))).toBe('unexpected')
  await fixture.query('ALTER TABLE lanes DROP CONSTRAINT full_lane')
  await until('health', async () => !(await errorOf(fixture.store.probe())))
})

test('is reported at the first start if no standby confirms', async (server) => {
  const url = await newDatabase(server)
  const setStandby = async (name: string) => {
    await alterSystem(server, `SET synchronous_standby_names = '${name}'`)
    await Bun.sleep(200)
  }
  await setStandby('nobody')
  try {
    expect(await openAt(url).catch(({ message }) => message)).toContain('no answer within')
  } finally {
    await setStandby('')
  }
})
