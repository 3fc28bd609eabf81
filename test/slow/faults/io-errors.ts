// A disk that fails, or refuses, beneath a daemon with a supervisor.
import { join } from 'node:path'
import { once, request } from '../../harness/http.ts'
import { type Daemon, type Supervised, supervise } from './daemon.ts'
import type { Fault, Report } from './fault.ts'
import { after, need } from './lab.ts'
import { acknowledged, health, startLoad } from './load.ts'
import { halt } from './process.ts'
import { faultsOf, startAgain, verify } from './verify.ts'

export const syncs = 'fsync,fdatasync'

export interface Injection {
  /** The argument of strace -e inject=. */
  inject: string
  files: 'all' | 'wal' | 'database'
}

/** Attaches strace to all threads, those to come too; returns what detaches it. */
export async function afflict(
  daemon: Daemon,
  database: string,
  { files, inject }: Injection,
): Promise<() => Promise<void>> {
  const paths = { all: [], wal: ['-P', `${database}-wal`], database: ['-P', database] }[files]
  const calls = ['-e', inject.slice(0, inject.indexOf(':')), '-e', `inject=${inject}`]
  const strace = Bun.spawn(
    ['strace', '-f', '-qq', '-o', '/dev/null', ...paths, ...calls, '-p', `${daemon.pid}`],
    { stdin: 'ignore', stdout: 'ignore', stderr: 'inherit' },
  )
  return after(async () => {
    // A call that strace is changing when it detaches ends with ENOSYS instead of the injected error.
    const stand = daemon.alive() ? await halt(daemon.pid) : undefined
    strace.kill('SIGTERM')
    await strace.exited
    stand?.()
  })
}

interface Case extends Injection {
  name: string
  about: string
  /** The outcome: the daemon ends with 74; or it refuses requests, says so in /health, and may end. */
  outcome: 'ends' | 'refuses'
}

const cases: Case[] = [
  {
    name: 'fsync-eio',
    about: 'fsync of the write-ahead log fails with EIO',
    inject: `${syncs}:error=EIO`,
    files: 'wal',
    outcome: 'ends',
  },
  {
    name: 'fsync-eio-database',
    about: 'fsync of the database (a checkpoint) fails with EIO',
    inject: `${syncs}:error=EIO`,
    files: 'database',
    outcome: 'ends',
  },
  {
    name: 'write-eio',
    about: 'pwrite64 of the write-ahead log fails with EIO',
    inject: 'pwrite64:error=EIO',
    files: 'wal',
    outcome: 'ends',
  },
  {
    name: 'write-eio-database',
    about: 'pwrite64 of the database (a checkpoint) fails with EIO',
    inject: 'pwrite64:error=EIO',
    files: 'database',
    outcome: 'ends',
  },
  {
    name: 'read-eio',
    about: 'pread64 of every file fails with EIO',
    inject: 'pread64:error=EIO',
    files: 'all',
    outcome: 'refuses',
  },
  {
    name: 'stat-eio',
    about: 'the path of every file cannot be looked up',
    inject: 'statx,newfstatat,stat,lstat:error=EIO',
    files: 'all',
    outcome: 'refuses',
  },
]

const ROUNDS = 3

type Hurt = (service: Supervised, database: string, it: Injection, report: Report) => Promise<void>

/** Lets the disk fail: the daemon ends with one line. */
const fail: Hurt = async (service, database, injection, report) => {
  const daemon = service.current()
  const heal = await afflict(daemon, database, injection)
  await report.expectSoon(20_000, () => !daemon.alive(), 'it does not end')
  await heal()
  const lines = daemon.err().match(/"storage-failed".*start plantstore again/g) ?? []
  report.expect(lines.length === 1, `the reason is logged ${lines.length} times`)
  await report.expectSoon(10_000, () => service.current() !== daemon, 'it is not started again')
}

/** Lets the disk refuse, until a read or /health fails. */
const refuse: Hurt = async (service, database, injection, report) => {
  const daemon = service.current()
  const { port, token } = service
  const isNoticed = async () => {
    const answer = await once(port, request('GET', '/plants?limit=1000', token))
    return answer?.status === 503 || !daemon.alive() || (await health(service)) >= 500
  }
  const heal = await afflict(daemon, database, injection)
  await report.expectSoon(15_000, isNoticed, 'it is not noticed')
  await Bun.sleep(1200)
  await heal()
}

/** Hurts a service again and again; what it acknowledged is there before, and after it is started unhurt. */
async function injectErrors(folder: string, it: Case, report: Report): Promise<void> {
  await need('strace')
  const database = join(folder, 'plants.db')
  const service = await supervise(database)
  const load = startLoad(service, { reconnect: true })
  const { ledger, errors } = load
  report.expect(await acknowledged(ledger, 200, 10_000), 'too slow')
  for (let round = 0; round < ROUNDS; round++) {
    await (it.outcome === 'ends' ? fail : refuse)(service, database, it, report)
    report.expect(await acknowledged(ledger, 50, 15_000), 'it did not heal')
    const isWell = async () => (await health(service)) === 200
    await report.expectSoon(10_000, isWell, 'health stays bad')
  }
  const log = service.log()
  await service.end((daemon) => daemon.kill())
  await load.stop()
  report.note(...service.problems, ...faultsOf(verify(database, ledger)))
  await startAgain(database, ledger, report)
  const allowed = it.outcome === 'ends' ? [50301] : [50301, 50302]
  const wrong = [...errors.keys()].filter((error) => !allowed.includes(error))
  const reasons = log.split('\n').filter((line) => /"level":"(warn|error)"/.test(line))
  report.expect(wrong.length === 0, `answered with ${wrong.join(', ')}: ${reasons.join(' ')}`)
}

export const ioErrorFaults: Fault[] = cases.map((it) => ({
  name: it.name,
  about: it.about,
  run: (folder, report) => injectErrors(folder, it, report),
}))
