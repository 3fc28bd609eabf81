// A disk that fails, or refuses, beneath a daemon with a supervisor.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { once, request } from '../../harness/http.ts'
import { type Daemon, type Start, type Supervised, serve, supervise } from './daemon.ts'
import { comesTrue, count, type Fault, type Outcome, tally } from './fault.ts'
import { type Injection, injections, syncs, type Where } from './injections.ts'
import { after, need, preload } from './lab.ts'
import { acknowledged, health, type Load, recovers, settle, startLoad } from './load.ts'
import { halt } from './process.ts'
import { faultsOf, verify } from './verify.ts'

function flags(database: string, where: Where, inject: string): string[] {
  const paths = { all: [], wal: ['-P', `${database}-wal`], database: ['-P', database] }
  const calls = inject.slice(0, inject.indexOf(':'))
  return ['-f', '-qq', '-o', '/dev/null', ...paths[where], '-e', calls, '-e', `inject=${inject}`]
}

/** Attaches strace to all threads, those to come too; returns what detaches it. */
export async function afflict(
  daemon: Daemon,
  database: string,
  { where, inject }: Pick<Injection, 'where' | 'inject'>,
): Promise<() => Promise<void>> {
  const command = ['strace', ...flags(database, where, inject), '-p', `${daemon.pid}`]
  const strace = Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'inherit' })
  return after(async () => {
    // A call that strace has changed when it lets go ends with ENOSYS, another error than the one that was asked for.
    const stand = daemon.alive() ? await halt(daemon.pid) : undefined
    strace.kill('SIGTERM')
    await strace.exited
    stand?.()
  })
}

/** Kills the daemon, starts it unhurt, and compares: before the restart, and after it. */
export async function aftermath(
  database: string,
  service: Supervised,
  load: Load,
): Promise<string[]> {
  await service.end((daemon) => daemon.kill())
  await load.stop()
  const problems = [...service.problems]
  for (const problem of faultsOf(verify(database, load.ledger))) {
    problems.push(`${problem} (before the restart)`)
  }
  const next = await serve(database)
  await settle(next, load.ledger)
  if (!(await recovers(next, load.ledger, 5000))) problems.push('no creates after a restart')
  if ((await next.stop()) !== 0) problems.push('a bad exit code after SIGTERM')
  problems.push(...faultsOf(verify(database, load.ledger)))
  return problems
}

function outcome(about: string, load: Load, problems: string[]): Outcome {
  const { stored, refused } = tally(load.ledger)
  const seen = [...load.errors].map(([error, times]) => `${error} ${times} times`)
  return {
    tried: about,
    many: `${count(stored, 'plant')} acknowledged, ${refused} refused (${seen.join(', ') || 'none'})`,
    lost: problems.length === 0 ? '0 lost, 0 came back' : 'see',
    problems,
  }
}

const reasons = (log: string): string =>
  [...new Set(log.split('\n').filter((line) => /"level":"(warn|error)"/.test(line)))].join(' ')

/** A service that has acknowledged plants, and goes on to be asked for more. */
async function underLoad(database: string, start?: Start) {
  const service = await supervise(database, start)
  const load = startLoad(service, { reconnect: true })
  const problems: string[] = []
  if (!(await acknowledged(load.ledger, 200, 10_000))) problems.push('too slow')
  return { service, load, problems }
}

const ROUNDS = 3

/** Lets the disk fail: the daemon ends with one line, and the next one works. */
async function endsAndStarts(
  service: Supervised,
  database: string,
  injection: Injection,
): Promise<string[]> {
  const daemon = service.current()
  const heal = await afflict(daemon, database, injection)
  if (!(await comesTrue(20_000, () => !daemon.alive()))) return ['it does not end']
  await heal()
  const code = await daemon.finished
  const lines = daemon.err().split('"storage-failed"').length - 1
  return [
    ...(code === 74 ? [] : [`exit code ${code}`]),
    ...(lines === 1 ? [] : [`the reason is logged ${lines} times`]),
  ]
}

/** Lets the disk refuse; the daemon lives on. */
async function refusesAndHeals(
  service: Supervised,
  database: string,
  injection: Injection,
): Promise<string[]> {
  const { port, token } = service
  const daemon = service.current()
  const bad = async () => {
    const answer = await once(port, request('GET', '/plants?limit=1000', token))
    const isUnread = injection.outcome === 'either' && (answer?.status === 503 || !daemon.alive())
    return isUnread || (await health(service)) >= 500
  }
  const problems: string[] = []
  const heal = await afflict(daemon, database, injection)
  if (!(await comesTrue(15_000, bad))) problems.push('it is not noticed')
  await Bun.sleep(1200)
  await heal()
  return problems
}

async function injectErrors(folder: string, injection: Injection): Promise<Outcome> {
  await need('strace')
  const database = join(folder, 'plants.db')
  const { service, load, problems } = await underLoad(database)
  const { about, allowed, outcome: expected } = injection
  for (let round = 0; round < ROUNDS; round++) {
    const hurt = expected === 'ends' ? endsAndStarts : refusesAndHeals
    problems.push(...(await hurt(service, database, injection)))
    if (!(await acknowledged(load.ledger, 50, 15_000))) problems.push('it did not heal')
    if (!(await comesTrue(10_000, async () => (await health(service)) === 200))) {
      problems.push('health stays bad')
    }
  }
  const restarts = expected === 'ends' ? ROUNDS : 0
  if (service.restarts() !== restarts && expected !== 'either') {
    problems.push(`${service.restarts()} restarts`)
  }
  const log = service.log()
  problems.push(...(await aftermath(database, service, load)))
  const wrong = [...load.errors.keys()].filter((error) => !allowed.includes(error))
  if (wrong.length > 0) problems.push(`answered with ${wrong.join(', ')}: ${reasons(log)}`)
  return outcome(`${about}; ${ROUNDS} times; kill -9`, load, problems)
}

const GONE_MS = 2000

/** A device that goes away, and comes back after the supervisor has tried in vain to start the daemon. */
async function deviceGoes(folder: string, about: string): Promise<Outcome> {
  const database = join(folder, 'plants.db')
  const gone = join(folder, 'gone')
  const env = {
    LD_PRELOAD: await preload(folder, 'flaky'),
    FAULT_PREFIX: database,
    FAULT_GONE: gone,
  }
  const { service, load, problems } = await underLoad(database, { env })
  for (const moment of ['sync', 'write', 'sync']) {
    writeFileSync(gone, moment)
    const daemon = service.current()
    if (!(await comesTrue(10_000, () => !daemon.alive()))) problems.push('it does not end')
    await Bun.sleep(GONE_MS)
    rmSync(gone)
    if (!(await acknowledged(load.ledger, 50, 15_000))) problems.push('it did not heal')
  }
  problems.push(...(await aftermath(database, service, load)))
  return outcome(about, load, problems)
}

async function harmless(folder: string, about: string, start: Start): Promise<Outcome> {
  const database = join(folder, 'plants.db')
  const { service, load, problems } = await underLoad(database, start)
  if (!(await acknowledged(load.ledger, 100, 20_000))) problems.push('too slow')
  await Bun.sleep(1000)
  problems.push(...(await aftermath(database, service, load)))
  if (load.errors.size > 0) problems.push('plants were refused')
  return outcome(about, load, problems)
}

export const ioErrorFaults: Fault[] = [
  ...injections.map(
    (injection): Fault => ({
      name: injection.name,
      about: injection.about,
      run: (folder) => injectErrors(folder, injection),
    }),
  ),
  {
    name: 'device-gone',
    about: 'the device goes away in a commit, and is still gone when the daemon is started again',
    run(folder) {
      return deviceGoes(folder, this.about)
    },
  },
  {
    name: 'fsync-slow',
    about: 'each fsync takes 100 ms more',
    async run(folder) {
      await need('strace')
      const database = join(folder, 'plants.db')
      const slow = flags(database, 'all', `${syncs}:delay_enter=100000`)
      return harmless(folder, this.about, { wrap: ['strace', '-D', '--seccomp-bpf', ...slow] })
    },
  },
  {
    name: 'write-short',
    about: 'every third write is cut in half',
    async run(folder) {
      const env = {
        LD_PRELOAD: await preload(folder, 'recorder'),
        FAULT_PREFIX: join(folder, 'plants.db'),
        FAULT_SHORT: '3',
      }
      return harmless(folder, this.about, { env })
    },
  },
]
