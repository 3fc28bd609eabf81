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
let isMoved = false
let lookAtFiles = () => isMoved
let saveLog = () => true

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
  isMoved = false
  lookAtFiles = () => isMoved
  saveLog = () => true
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

const files = { isMoved: () => lookAtFiles(), saveLog: () => saveLog() }
const daemonWriter = () =>
  new Writer(
    'plants.db',
    files,
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
const commandWriter = () => new Writer('plants.db', files, commandUser({ makesDatabase: false }))

const create = (id: number): Write => ({ kind: 'create', row: [id, 'Fern', null], origin: null })
const failing = (kind: 'fatal' | 'full' | 'busy' | 'refused' | 'damaged', detail = 'why') => ({
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
  expect(writer.fatal?.kind).toBe('fatal')
})

test.each([
  [
    'checkpoint',
    (thread?: TestedThread) => thread?.onmessage({ data: JSON.stringify(failing('fatal')) }),
  ],
  ['thread', (thread?: TestedThread) => thread?.onerror({ message: 'out of memory' })],
])('a %s that fails between two commits ends the daemon', async (_, fail) => {
  const writer = daemonWriter()
  await writer.commit([create(1)])
  fail(threads.at(-1))
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

const MOVED = 'the database, its -wal or its -shm was moved, replaced or removed'

test('a commit while a file was moved is in doubt, and the daemon continues without writing', async () => {
  const writer = daemonWriter()
  answer = () => {
    isMoved = true
    return {}
  }
  await expect(writer.commit([create(1)])).rejects.toBeInstanceOf(InDoubtError)
  expect(await errorOf(writer.commit([create(2)]))).toContain(MOVED)
  await pass(5000)

  expect({ deaths, events, sent: requests.length }).toEqual({
    deaths: 0,
    events: ['error database-moved'],
    sent: 1,
  })
  isMoved = false
  const command = commandWriter()
  expect(await errorOf(command.commit([create(1)]))).toBe(
    `storage failed: cannot write to the database: ${MOVED}; put it back, and restart plantstore; the last changes may or may not be on disk: run it again`,
  )
})

test('nothing is sent to a database that was moved, even if it is put back; its log is saved once it can be', async () => {
  const writer = daemonWriter()
  let saved = 0
  saveLog = () => {
    saved += 1
    if (saved === 1) throw new Error('disk I/O error')
    return true
  }
  isMoved = true
  const refusal = `storage failed: nothing was stored: ${MOVED}; put it back, and restart plantstore`
  expect(await errorOf(writer.commit([create(1)]))).toBe(refusal)
  isMoved = false

  expect(await errorOf(writer.commit([create(1)]))).toBe(refusal)
  await pass(5000)
  expect({ requests, saved, deaths, events }).toEqual({
    requests: [],
    saved: 2,
    deaths: 0,
    events: ['error database-moved'],
  })
})

test.each(['before', 'after'])(
  'a daemon ends if its files cannot be looked at %s a commit, and acknowledges nothing',
  async (when) => {
    const writer = daemonWriter()
    const fail = () => {
      lookAtFiles = () => {
        throw new Error('EIO: i/o error')
      }
    }
    if (when === 'before') fail()
    answer = () => {
      fail()
      return {}
    }
    let ended = 0
    writer.commit([create(1)]).finally(() => {
      ended += 1
    })
    await settled()

    expect({ ended, deaths, events, sent: requests.length }).toEqual({
      ended: 0,
      deaths: 1,
      events: ['error storage-failed'],
      sent: when === 'before' ? 0 : 1,
    })
    lookAtFiles = () => isMoved
    const command = commandWriter()
    expect(await errorOf(command.commit([create(1)]))).toEndWith(
      'may or may not be on disk: run it again',
    )
  },
)

test('damage is noted once, and is no problem for the other writes of its batch', async () => {
  const writer = daemonWriter()
  answer = () => ({
    outcomes: [{ error: 'storage failed' }, 'done'],
    damage: { kind: 'damaged', detail: 'page 7' },
  })
  await writer.commit([create(1), create(2)])
  answer = () => failing('damaged')
  expect(await errorOf(writer.commit([create(1)]))).toContain('a page of the database is damaged')

  expect({ isDamaged: writer.isDamaged, problem: writer.problem(), events }).toEqual({
    isDamaged: true,
    problem: null,
    events: ['error database-damaged'],
  })
  await pass(5000)
  expect(requests.filter((request) => request === 'rehearse')).toEqual([])

  answer = () => failing('busy')
  expect(await errorOf(writer.commit([create(1)]))).toStartWith('busy: ')
  writer.note({ kind: 'damaged', detail: 'page 8' })
  expect(writer.problem()?.error).toBe('busy')
})

test('a commit that waits for 10 seconds is a problem until it ends', async () => {
  const writer = daemonWriter()
  answer = () => null
  void writer.commit([create(1)])
  await pass(6000)
  threads.at(-1)?.onmessage({ data: '{}' })
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
  expect(jest.getTimerCount()).toBe(1)
  await pass(2000)

  expect(jest.getTimerCount()).toBe(0)
})

test('a committing thread that cannot be started is a problem until it can be', async () => {
  Object.assign(globalThis, { Worker: UnstartableThread })
  const writer = daemonWriter()
  void writer.rehearse()
  await settled()
  expect(writer.problem()?.error).toBe('storage failed')
  expect(await errorOf(commandWriter().commit([create(1)]))).toContain('EAGAIN')

  Object.assign(globalThis, { Worker: TestedThread })
  await pass(1000)

  expect(writer.problem()).toBeNull()
  expect({ deaths, events }).toEqual({
    deaths: 0,
    events: ['error cannot-write', 'info writable-again'],
  })
})
