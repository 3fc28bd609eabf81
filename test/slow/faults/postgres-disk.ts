// A PostgreSQL server whose disk is full, under load.
import { chownSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { comesTrue, type Fault, type Outcome } from './fault.ts'
import { fill } from './full-disk.ts'
import { mount, need, temporaryFolder } from './lab.ts'
import { acknowledged, health } from './load.ts'
import { answered, HEALED_MS, type Hurt, type Scene, underLoadAt } from './postgres-load.ts'
import { DATABASE, launchBefore, type Server, startServer, urlOf } from './postgres-server.ts'

const NOBODY = 65_534

/** A small disk that everybody may write to; returns its folder. */
async function mountSmall(megabytes: number): Promise<string> {
  await need()
  const disk = temporaryFolder()
  await mount(disk, '-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0777`, 'tmpfs')
  return disk
}

/** Starts a daemon that has to make its tables on the full disk; returns what is wrong with how that ends. */
async function startNew(server: Server): Promise<string[]> {
  const run = launchBefore(urlOf([server]).replace(DATABASE, 'another'))
  const code = await run.finished
  const isClear = /^plantstore: [^\n]*(disk full|No space left)[^\n]*\n$/.test(run.err())
  if ((code === 1 || code === 74) && isClear) return []
  return [`a new store ends with ${code}: ${JSON.stringify(run.err())}`]
}

/** The tables grow on a disk that is full; the log of the server is elsewhere. */
async function fullTables(about: string): Promise<Outcome> {
  const disk = await mountSmall(48)
  const ballast = join(disk, 'ballast')
  const tables = join(disk, 'tables')
  mkdirSync(tables)
  chownSync(tables, NOBODY, NOBODY)
  const server = await startServer()
  await server.query(`CREATE TABLESPACE small LOCATION '${tables}'`)
  for (const name of [DATABASE, 'another']) {
    await server.query(`CREATE DATABASE ${name} TABLESPACE small`)
  }
  // The first session of a database writes a file, too.
  await server.query('SELECT 1', 'another')
  const hurt: Hurt<Scene> = async ({ load, daemon, problems }) => {
    for (let round = 0; round < 2; round++) {
      fill(ballast)
      const before = answered(load, 50701)
      if (!(await comesTrue(HEALED_MS, () => answered(load, 50701) > before + 100))) {
        problems.push('no 50701')
      }
      // A commit within the last second is enough for it.
      if (!(await comesTrue(HEALED_MS, async () => (await health(daemon)) === 503))) {
        problems.push('health does not show it')
      }
      if (round === 0) problems.push(...(await startNew(server)))
      rmSync(ballast)
      if (!(await acknowledged(load.ledger, 500, HEALED_MS))) problems.push('it did not heal')
    }
    const wrong = [...load.errors.keys()].filter((error) => error !== 50701)
    if (wrong.length > 0) problems.push(`answered with ${wrong.join(', ')}`)
    if (!daemon.err().includes('"disk-full"')) problems.push('the log does not tell of it')
    return undefined
  }
  return underLoadAt(server, about, hurt)
}

/** All of the server is on a disk that is full: it ends itself when it cannot write its log. */
async function fullLog(about: string): Promise<Outcome> {
  const disk = await mountSmall(160)
  const ballast = join(disk, 'ballast')
  const server = await startServer({ parent: disk, settings: { wal_recycle: 'off' } })
  await server.createDatabase(DATABASE)
  const hurt: Hurt<Scene> = async ({ load, daemon, problems }) => {
    fill(ballast)
    // The next part of the log cannot be made.
    await server.query('SELECT pg_switch_wal()').catch(() => {})
    if (!(await comesTrue(HEALED_MS, async () => (await health(daemon)) === 503))) {
      problems.push('health does not show it')
    }
    // Parts that were made before are filled up; a table that cannot grow is refused first, and writes little.
    const more =
      "SELECT pg_logical_emit_message(false, 'fault', repeat('x', 1000000)) FROM generate_series(1, 200)"
    const ended = async () => {
      if (/PANIC: .*No space left/.test(server.log())) return true
      await server.query(more).catch(() => {})
      return false
    }
    if (!(await comesTrue(HEALED_MS, ended))) problems.push('the server does not end itself')
    await Bun.sleep(500)
    rmSync(ballast)
    await server.killAll()
    await server.start()
    if (!(await acknowledged(load.ledger, 500, HEALED_MS))) problems.push('it did not heal')
    const wrong = [...load.errors.keys()].filter((error) => error !== 50701 && error !== 50302)
    if (wrong.length > 0) problems.push(`answered with ${wrong.join(', ')}`)
    return undefined
  }
  return underLoadAt(server, about, hurt)
}

export const postgresDiskFaults: Fault[] = [
  {
    name: 'postgres-full',
    about: 'the tables of PostgreSQL are on a disk that is full, then space again',
    run() {
      return fullTables(this.about)
    },
  },
  {
    name: 'postgres-full-log',
    about: 'PostgreSQL ends itself, as its log is on a full disk; space again, and a restart',
    run() {
      return fullLog(this.about)
    },
  },
]
