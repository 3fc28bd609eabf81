import { join } from 'node:path'
import { once, request } from '../../harness/http.ts'
import { type Daemon, type Start, serve } from './daemon.ts'
import { count, type Fault, type Outcome, tally, until } from './fault.ts'
import { type Injection, injections, syncs, type Where } from './injections.ts'
import { after, need, preload } from './lab.ts'
import {
  acknowledged,
  health,
  type Load,
  type LoadOptions,
  recovers,
  settle,
  startLoad,
} from './load.ts'
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

/** Kills what was hurt, starts it unhurt, and compares: before the restart, and after it. */
async function aftermath(database: string, daemon: Daemon, load: Load): Promise<string[]> {
  const crash = daemon.alive() ? [] : [`it crashed with exit code ${await daemon.exited}`]
  await daemon.kill()
  return [...crash, ...(await restart(database, load))]
}

/** Compares what an ended daemon has left, before a restart and after it. */
async function restart(database: string, load: Load): Promise<string[]> {
  const problems: string[] = []
  await load.stop()
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

// The reasons of outages in the daemon's log.
const reasons = (log: string): string =>
  [
    ...new Set(
      [...log.matchAll(/"(storage-failed|checkpoint-failed|storage-still-fails)".*/g)].map(
        ([line]) => line,
      ),
    ),
  ].join(' ')

/** A daemon that has acknowledged plants, and goes on to be asked for more. */
async function underLoad(folder: string, options: LoadOptions = {}) {
  await need('strace')
  const database = join(folder, 'plants.db')
  const daemon = await serve(database)
  const load = startLoad(daemon, options)
  const problems: string[] = []
  if (!(await acknowledged(load.ledger, 200, 10_000))) problems.push('too slow')
  return { database, daemon, load, problems }
}

async function injectErrors(folder: string, injection: Injection): Promise<Outcome> {
  const { database, daemon, load, problems } = await underLoad(folder, { reconnect: true })
  const bad = async () => {
    await once(daemon.port, request('GET', '/plants?limit=1000', daemon.token))
    return (await health(daemon)) >= 500
  }
  const heal = await afflict(daemon, database, injection)
  if (!(await until(15_000, bad))) problems.push('health does not show it')
  await Bun.sleep(1200)
  await heal()
  if (!(await acknowledged(load.ledger, 50, 15_000))) problems.push('it did not heal')
  if (!(await until(5000, async () => !(await bad())))) problems.push('health stays bad')
  await afflict(daemon, database, injection)
  await Bun.sleep(500 + Math.random() * 500)
  problems.push(...(await aftermath(database, daemon, load)))
  const wrong = [...load.errors.keys()].filter((error) => !injection.allowed.includes(error))
  if (wrong.length > 0) problems.push(`answered with ${wrong.join(', ')}: ${reasons(daemon.err())}`)
  return outcome(`${injection.about}; heal; again; kill -9`, load, problems)
}

// A checkpoint fails, and then nobody creates anything: it is tried again all the same.
async function healsIdle(folder: string, about: string): Promise<Outcome> {
  const { database, daemon, load, problems } = await underLoad(folder, { reconnect: true })
  const inject = 'pwrite64:error=ENOSPC'
  const heal = await afflict(daemon, database, { where: 'database', inject })
  const failed = () => daemon.err().includes('"checkpoint-failed"')
  if (!(await until(15_000, failed))) problems.push('no checkpoint failed')
  await load.stop()
  await heal()
  const recovered = () => daemon.err().includes('"checkpoint-recovered"')
  if (!(await until(5000, recovered))) problems.push('no checkpoint was tried again')
  if ((await health(daemon)) !== 200) problems.push('health stays bad')
  problems.push(...(await aftermath(database, daemon, load)))
  return outcome(about, load, problems)
}

// Creates are in doubt, for their commits and the ones that were to overwrite them failed, and it is to stop.
async function stopsInDoubt(folder: string, about: string): Promise<Outcome> {
  const { database, daemon, load, problems } = await underLoad(folder)
  const heal = await afflict(daemon, database, { where: 'all', inject: `${syncs}:error=EIO` })
  const failed = () => daemon.err().includes('"storage-failed"')
  if (!(await until(10_000, failed))) problems.push('nothing failed')
  daemon.signal('SIGTERM')
  if (!(await until(20_000, () => !daemon.alive()))) problems.push('it did not stop')
  await heal()
  await daemon.kill()
  const code = await daemon.exited
  if (![0, 74].includes(code)) problems.push(`it ended with exit code ${code}`)
  problems.push(...(await restart(database, load)))
  return outcome(about, load, problems)
}

async function harmless(folder: string, about: string, start: Start): Promise<Outcome> {
  const database = join(folder, 'plants.db')
  const daemon = await serve(database, start)
  const load = startLoad(daemon)
  const problems: string[] = []
  if (!(await acknowledged(load.ledger, 100, 20_000))) problems.push('too slow')
  await Bun.sleep(1000)
  problems.push(...(await aftermath(database, daemon, load)))
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
    name: 'checkpoint-idle',
    about: 'a checkpoint fails with ENOSPC, then nobody creates anything',
    run(folder) {
      return healsIdle(folder, this.about)
    },
  },
  {
    name: 'stop-in-doubt',
    about: 'fsync of every file fails with EIO, and SIGTERM comes',
    run(folder) {
      return stopsInDoubt(folder, this.about)
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
