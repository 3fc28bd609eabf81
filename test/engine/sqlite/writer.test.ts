// The committing thread as the serving thread sees it, with a thread that answers as the test says.
import { afterEach, beforeEach, expect, jest, spyOn, test } from 'bun:test'
import type { Write } from '../../../src/engine/commit/write'
import type { Reply, Request } from '../../../src/engine/sqlite/committer'
import { Writer } from '../../../src/engine/sqlite/writer'
import { commandUser, storeOwner } from '../../../src/engine/store-user'
import { InDoubtError } from '../../../src/request-errors'

let requests: Request[] = []
let answer: (request: Request) => Reply | null = () => ({})
let events: string[] = []
let deaths = 0
let clock = 0
let threads: TestedThread[] = []

class TestedThread {
  constructor() {
    threads.push(this)
  }
  onmessage = (_: { readonly data: string }) => {}
  onerror = (_: { readonly message: string }) => {}
  postMessage(data: string) {
    const request: Request = JSON.parse(data)
    requests.push(request)
    const reply = answer(request)
    if (reply !== null) queueMicrotask(() => this.onmessage({ data: JSON.stringify(reply) }))
  }
  terminate() {}
}

class UnstartableThread {
  constructor() {
    throw new Error('EAGAIN')
  }
}

const { Worker: RealWorker } = globalThis

beforeEach(() => {
  Object.assign(globalThis, { Worker: TestedThread })
  jest.useFakeTimers()
  clock = 1000
  spyOn(performance, 'now').mockImplementation(() => clock)
  requests = []
  threads = []
  events = []
  deaths = 0
  answer = () => ({})
})
afterEach(() => {
  Object.assign(globalThis, { Worker: RealWorker })
  jest.useRealTimers()
  jest.restoreAllMocks()
})

const settled = async () => {
  for (let n = 0; n < 30; n++) await null
}

async function pass(milliseconds: number): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += 1000) {
    clock += 1000
    jest.advanceTimersByTime(1000)
    await settled()
  }
}

const database = { path: 'plants.db', inodes: [] }
const daemonWriter = () =>
  new Writer(
    database,
    storeOwner(
      (level, event) => events.push(`${level} ${event}`),
      () => {},
      null,
      undefined,
      () => {
        deaths += 1
      },
    ),
  )
const commandWriter = () => new Writer(database, commandUser({ makesDatabase: false }))

const create = (id: number): Write => ({ kind: 'create', row: [id, 'Fern', null], origin: null })
const failing = (
  kind: 'in doubt' | 'fatal' | 'full' | 'busy' | 'moved' | 'refused',
  detail = 'why',
) => ({
  failure: { kind, detail },
})
const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'made',
    ({ error, message }) => `${error}: ${message}`,
  )

test('a daemon whose disk fails logs one line, ends, and acknowledges no commit', async () => {
  const writer = daemonWriter()
  answer = () => failing('fatal', 'SQLITE_IOERR_FSYNC disk I/O error')
  let ended = 0
  writer.commit([create(1)]).finally(() => {
    ended += 1
  })
  await settled()
  await pass(20_000)

  expect({ ended, deaths, events }).toEqual({
    ended: 0,
    deaths: 1,
    events: ['error storage-failed'],
  })
  expect(writer.isDead).toBeTrue()
})

test('a checkpoint that fails ends the daemon', async () => {
  const writer = daemonWriter()
  await writer.commit([create(1)])
  threads.at(-1)?.onmessage({ data: JSON.stringify(failing('fatal')) })
  await settled()

  expect({ deaths, events }).toEqual({ deaths: 1, events: ['error storage-failed'] })
})

test('a command whose disk fails says that its last changes are in doubt', async () => {
  const writer = commandWriter()
  answer = () => failing('fatal', 'SQLITE_IOERR_FSYNC disk I/O error')

  expect(await errorOf(writer.commit([create(1)]))).toBe(
    'storage failed: cannot write to the database: SQLITE_IOERR_FSYNC disk I/O error; the last changes may or may not be on disk: run it again',
  )
  expect(await errorOf(writer.commit([create(2)]))).toContain('the disk has failed')
})

test('a full disk is a problem until a rehearsal succeeds, even if a smaller write does', async () => {
  const writer = daemonWriter()
  answer = () => failing('full')
  expect(await errorOf(writer.commit([create(1), create(2)]))).toContain('disk full')
  expect(writer.problem()?.error).toBe('disk full')

  answer = (request) => (request === 'rehearse' ? failing('full') : {})
  await writer.commit([{ kind: 'recordUse', hash: '', hour: 0 }])
  expect(writer.problem()?.error).toBe('disk full')
  await pass(3000)
  expect(writer.problem()?.error).toBe('disk full')
  expect(requests.at(-1)).toBe('rehearse')

  answer = () => ({})
  await pass(1000)
  expect(writer.problem()).toBeNull()
  expect(events).toEqual(['error disk-full', 'info writable-again'])
  const { length } = requests
  await pass(5000)
  expect(requests).toHaveLength(length)
})

test.each([
  ['busy', 'busy', 'error database-locked'],
  ['refused', 'storage failed', 'error cannot-write'],
] as const)('a refusal (%s) ends with the next success', async (kind, error, begins) => {
  const writer = daemonWriter()
  answer = () => failing(kind)
  expect(await errorOf(writer.commit([create(1)]))).toStartWith(`${error}: `)
  expect(writer.problem()?.error).toBe(error)
  answer = () => ({})
  await writer.commit([create(1)])

  expect(writer.problem()).toBeNull()
  expect(events).toEqual([begins, 'info writable-again'])
})

test('a commit while a file was moved is in doubt, and the daemon continues without writing', async () => {
  const writer = daemonWriter()
  answer = () => failing('in doubt', 'the database was moved')
  await expect(writer.commit([create(1)])).rejects.toBeInstanceOf(InDoubtError)
  answer = () => ({})
  expect(await errorOf(writer.commit([create(2)]))).toContain('the database was moved')

  expect({ deaths, events }).toEqual({ deaths: 0, events: ['error database-moved'] })
  const command = commandWriter()
  answer = () => failing('in doubt', 'the database was moved')
  expect(await errorOf(command.commit([create(1)]))).toBe(
    'storage failed: cannot write to the database: the database was moved; the last changes may or may not be on disk: run it again',
  )
})

test('nothing is sent to a database that was moved, even if it is put back', async () => {
  const writer = daemonWriter()
  answer = () => failing('moved', 'the database was moved')
  const refusal = 'storage failed: nothing was stored: the database was moved'
  expect(await errorOf(writer.commit([create(1)]))).toBe(refusal)
  const { length } = requests
  answer = () => ({})

  expect(await errorOf(writer.commit([create(1)]))).toBe(refusal)
  await pass(5000)
  expect(requests).toHaveLength(length)
  expect(events).toEqual(['error database-moved'])
})

test('a commit that waits for 10 seconds is a problem until it ends', async () => {
  const writer = daemonWriter()
  answer = () => null
  void writer.commit([create(1)])
  await pass(9000)
  expect(writer.problem()).toBeNull()
  await pass(2000)

  expect(writer.problem()?.message).toBe('the disk has confirmed no write for 10 s or more')
  expect(events).toEqual(['error disk-stalled'])
  threads.at(-1)?.onmessage({ data: '{}' })
  await settled()
  expect(writer.problem()).toBeNull()
  expect(events).toEqual(['error disk-stalled', 'info writable-again'])
})

test('the writer stops its timer once all is well', async () => {
  const writer = daemonWriter()
  await writer.commit([create(1)])
  await pass(2000)

  expect(jest.getTimerCount()).toBe(0)
})

test('a database whose committing thread cannot be started is not opened', () => {
  Object.assign(globalThis, { Worker: UnstartableThread })

  expect(commandWriter).toThrow('EAGAIN')
})

test('a committing thread that dies between two commits ends the daemon', async () => {
  const writer = daemonWriter()
  await writer.commit([create(1)])
  threads.at(-1)?.onerror({ message: 'out of memory' })
  await settled()

  expect({ deaths, events }).toEqual({ deaths: 1, events: ['error storage-failed'] })
})
