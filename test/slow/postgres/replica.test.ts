// A read-only daemon on a standby, as clients and operators see it.

import { expect, setDefaultTimeout } from 'bun:test'
import { SCHEMA_VERSION } from '../../../src/engine/postgres/schema'
import {
  type Installation,
  PASSWORD,
  type PostgresServer,
  startPostgres,
} from '../../../tools/postgres/server'
import { startProxy } from '../../harness/cuttable'
import { PATIENCE_MS, startDaemon } from '../../harness/daemon'
import { onInstallations } from '../../harness/own-server'
import { runOn } from '../../harness/postgres-store'
import { until } from '../../harness/until'

setDefaultTimeout(2 * PATIENCE_MS)

const ENVIRONMENT = { PGPASSWORD: PASSWORD }
const urlOf = (...ports: readonly number[]) =>
  `postgres://admin@${ports.map((port) => `127.0.0.1:${port}`)}/plants?connect_timeout=2`
const PRIMARY_URL = 'https://plants.example.org'

type Daemon = Awaited<ReturnType<typeof startDaemon>>

type Answer = {
  readonly changes: readonly unknown[]
  readonly replica: { readonly lagSeconds: number; readonly lagBytes: number }
  readonly status: string
}

const read = async (daemon: Daemon, path: string) =>
  (await (await daemon.fetch(path)).json()) as Answer
const errorOf = async (answer: Response) => ({
  status: answer.status,
  ...((await answer.json()) as { error: number; message: string }),
})

/** A primary with its daemon, and a standby with a read-only one. */
async function startPair(installation: Installation) {
  const primary = await startPostgres(installation)
  await primary.createDatabase('plants')
  const args = ['--keep-changes', '30d']
  const writing = await startDaemon({
    env: ENVIRONMENT,
    database: urlOf(primary.port),
    args,
  })
  await writing.create('{"id":1,"name":"one"}')
  const standby = await startPostgres(installation, { standbyOf: primary })
  const proxy = startProxy(standby.port)
  const reading = await startDaemon({
    env: ENVIRONMENT,
    database: urlOf(proxy.port),
    args: ['--read-only', '--primary-url', PRIMARY_URL],
  })
  return {
    primary,
    standby,
    proxy,
    writing,
    reading,
    async [Symbol.asyncDispose]() {
      for (const daemon of [reading, writing]) await daemon[Symbol.asyncDispose]()
      proxy[Symbol.dispose]()
      for (const server of [standby, primary]) await server[Symbol.asyncDispose]()
    },
  }
}

const hasPlant = (daemon: Daemon, id: number) =>
  until(`plant ${id}`, async () => (await daemon.fetch(`/plants/${id}`)).status === 200)

const pause = (standby: PostgresServer) => standby.query('SELECT pg_wal_replay_pause()')
const resume = (standby: PostgresServer) => standby.query('SELECT pg_wal_replay_resume()')

const NEEDS = { needs: 'pg_basebackup' }
const test = onInstallations('a read-only daemon before %s', NEEDS)
const testCommand = onInstallations('a reading command before %s', NEEDS)

test('answers reads, checks tokens, and refuses writes', async (installation) => {
  await using pair = await startPair(installation)
  const { standby, writing, reading } = pair
  const create = ['token', 'create', 'reader', '--scope', 'read']
  const creation = await runOn(urlOf(pair.primary.port), create, { env: ENVIRONMENT })
  const authorization = `Bearer ${creation.out.trim()}`
  await writing.create('{"id":2,"name":"two","tag":"new"}')
  await hasPlant(reading, 2)

  expect<unknown>(await read(reading, '/plants/2')).toEqual({ id: 2, name: 'two', tag: 'new' })
  expect<unknown>(await read(reading, '/plants?limit=1')).toMatchObject({ next: '1' })
  expect<unknown>(await read(reading, '/tags')).toMatchObject({
    tags: [{ tag: 'new', plants: 1 }],
  })
  expect((await read(reading, '/plants/changes')).changes).toHaveLength(2)
  expect((await read(reading, '/plants/2/history')).changes).toHaveLength(1)
  expect<unknown>(await read(reading, '/token')).toMatchObject({
    scope: 'write',
    changeLog: true,
  })
  const headers = { authorization }
  expect((await reading.fetch('/plants/2', { headers })).status).toBe(200)
  expect(
    (await reading.fetch('/plants/2', { headers: { authorization: 'Bearer x' } })).status,
  ).toBe(401)

  expect(await errorOf(await reading.create('{"id":3,"name":"three"}'))).toEqual({
    status: 403,
    error: 40302,
    message: `this plantstore is read-only; send changes to ${PRIMARY_URL}`,
  })
  expect(await standby.query('SELECT FROM plants', 'plants')).toHaveLength(2)
  expect(reading.out()).not.toContain('token')
})

test('reports its lag, and when it is too long', async (installation) => {
  await using pair = await startPair(installation)
  const { standby, writing, reading } = pair
  const lag = async () => (await read(reading, '/status')).replica
  await until('every change', async () => (await lag()).lagSeconds === 0)

  expect<unknown>(await read(reading, '/status')).toMatchObject({
    writable: false,
    problem: null,
    replica: { lagSeconds: 0, lagBytes: 0, primary: PRIMARY_URL },
  })
  await pause(standby)
  await writing.create('{"id":2,"name":"two"}')
  await until('a lag', async () => (await lag()).lagSeconds > 10)

  expect((await lag()).lagBytes).toBeGreaterThan(0)
  expect<unknown>(await read(reading, '/health')).toEqual({ status: 'behind' })
  const metrics = await (await reading.fetch('/metrics')).text()
  expect(metrics).toMatch(/^plantstore_replica_lag_seconds 1\d/m)
  expect(metrics).toContain('\nplantstore_storage_writable 1\n')
  await resume(standby)
  await until('no lag', async () => (await lag()).lagSeconds === 0)
  expect<unknown>(await read(reading, '/health')).toEqual({ status: 'ok' })
})

test('waits for the change that a read names', async (installation) => {
  await using pair = await startPair(installation)
  const { standby, writing, reading } = pair
  const { headers } = await writing.create('{"id":2,"name":"two"}')
  const cursor = headers.get('plantstore-cursor') ?? ''
  const readAfter = (own: string, id: number) =>
    reading.fetch(`/plants/${id}`, { headers: { 'plantstore-cursor': own } })

  expect((await readAfter(cursor, 2)).status).toBe(200)
  await pause(standby)
  const next = await writing.fetch('/plants/3', {
    method: 'PUT',
    json: { name: 'three' },
    headers: { 'if-none-match': '*' },
  })
  const later = next.headers.get('plantstore-cursor') ?? ''
  const startedAt = performance.now()
  expect(await errorOf(await readAfter(later, 3))).toMatchObject({ error: 50301 })
  expect(performance.now() - startedAt).toBeGreaterThan(1000)
  expect((await readAfter(cursor, 2)).status).toBe(200)
  const waiting = readAfter(later, 3)
  await Bun.sleep(200)
  await resume(standby)
  expect((await waiting).status).toBe(200)
  const number = later.split('-')[1]
  expect(await errorOf(await readAfter(`0123456789abcdef-${number}`, 3))).toMatchObject({
    error: 41001,
  })
  expect(await errorOf(await readAfter('now', 3))).toMatchObject({ error: 40002 })
  expect((await readAfter(later, 99)).status).toBe(404)
})

test('says that it is old once a newer plantstore has migrated', async (installation) => {
  await using pair = await startPair(installation)
  const { primary, reading } = pair
  await hasPlant(reading, 1)

  await primary.query('UPDATE plantstore_schema SET version = 99', 'plants')

  await until('503', async () => (await reading.fetch('/health')).status === 503)
  const detail = expect.stringContaining('written by a newer plantstore (schema 99')
  expect(reading.events()).toContainEqual(
    expect.objectContaining({ event: 'tables-altered', detail }),
  )
  expect((await reading.fetch('/plants/1')).status).toBe(200)
  await primary.query(`UPDATE plantstore_schema SET version = ${SCHEMA_VERSION}`, 'plants')
  await until('200', async () => (await reading.fetch('/health')).status === 200)
})

testCommand('reads a standby if the URL names no other server', async (installation) => {
  await using primary = await startPostgres(installation)
  await primary.createDatabase('plants')
  await using writing = await startDaemon({
    env: ENVIRONMENT,
    database: urlOf(primary.port),
    args: ['--keep-changes', '30d'],
  })
  await writing.create('{"id":1,"name":"one","tag":"a"}')
  await using standby = await startPostgres(installation, { standbyOf: primary })
  const run = (url: string, ...args: string[]) => runOn(url, args, { env: ENVIRONMENT })
  const alone = urlOf(standby.port)

  expect((await run(alone, 'export')).out).toBe('{"id":1,"name":"one","tag":"a"}\n')
  expect((await run(alone, 'check')).out).toStartWith('ok: 1 plant,')
  expect((await run(alone, 'changes')).out).toContain('"name":"one"')
  expect((await run(alone, 'token', 'list')).code).toBe(0)
  expect((await run(alone, 'token', 'create', 'x')).err).toContain('read-only, like a standby')

  await primary.stop('SIGQUIT')
  const { err, code } = await run(urlOf(primary.port, standby.port), 'export')
  expect({ err, code }).toEqual({
    err: expect.stringContaining(`127.0.0.1:${standby.port}: read-only, like a standby`),
    code: 1,
  })
})
