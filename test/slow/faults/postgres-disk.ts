// A PostgreSQL server whose disk is full, under load.
import { chownSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Fault, Report } from './fault.ts'
import { fill } from './full-disk.ts'
import { mount, need, temporaryFolder } from './lab.ts'
import {
  answered,
  expectErrors,
  expectHealth,
  HEALED_MS,
  type Hurt,
  heals,
  underLoad,
} from './postgres-load.ts'
import { DATABASE, launchBefore, type Server, startServer, urlOf } from './postgres-server.ts'

const NOBODY = 65_534

/** A small disk that everybody may write to; returns its folder. */
async function mountSmall(megabytes: number): Promise<string> {
  await need()
  const disk = temporaryFolder()
  await mount(disk, '-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0777`, 'tmpfs')
  return disk
}

/** Starts a daemon that has to make its tables on the full disk: one line says that it is full. */
async function startNew(server: Server, report: Report): Promise<void> {
  const run = launchBefore(urlOf([server]).replace(DATABASE, 'another'))
  const code = await run.finished
  const isClear = /^plantstore: [^\n]*(disk full|No space left)[^\n]*\n$/.test(run.err())
  const isRight = (code === 1 || code === 74) && isClear
  report.expect(isRight, `a new store ends with ${code}: ${run.err()}`)
}

/** The tables grow on a disk that is full; the log of the server is elsewhere. */
async function fullTables(_: string, report: Report): Promise<void> {
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
  const hurt: Hurt = async (scene) => {
    const { load, daemon } = scene
    for (let round = 0; round < 2; round++) {
      fill(ballast)
      const before = answered(load, 50701)
      await report.expectSoon(HEALED_MS, () => answered(load, 50701) > before + 100, 'no 50701')
      // A commit within the last second is enough for it.
      await expectHealth(scene, 503)
      if (round === 0) await startNew(server, report)
      rmSync(ballast)
      await heals(scene)
    }
    expectErrors(scene, 50701)
    report.expect(daemon.err().includes('"disk-full"'), 'the full disk is not logged')
    return undefined
  }
  await underLoad([server], hurt, report)
}

/** All of the server is on a disk that is full: it ends itself when it cannot write its log. */
async function fullLog(_: string, report: Report): Promise<void> {
  const disk = await mountSmall(160)
  const ballast = join(disk, 'ballast')
  const server = await startServer({ parent: disk, settings: { wal_recycle: 'off' } })
  await server.createDatabase(DATABASE)
  const hurt: Hurt = async (scene) => {
    fill(ballast)
    // The next part of the log cannot be made.
    await server.query('SELECT pg_switch_wal()').catch(() => {})
    await expectHealth(scene, 503)
    // Parts that were made before are filled up; a table that cannot grow is refused first, and writes little.
    const more =
      "SELECT pg_logical_emit_message(false, 'fault', repeat('x', 1000000)) FROM generate_series(1, 200)"
    const ended = async () => {
      if (/PANIC: .*No space left/.test(server.log())) return true
      await server.query(more).catch(() => {})
      return false
    }
    await report.expectSoon(HEALED_MS, ended, 'the server does not end itself')
    await Bun.sleep(500)
    rmSync(ballast)
    await server.killAll()
    await server.start()
    await heals(scene)
    expectErrors(scene, 50701, 50302)
    return undefined
  }
  await underLoad([server], hurt, report)
}

export const postgresDiskFaults: Fault[] = [
  {
    name: 'postgres-full',
    about: 'the tables of PostgreSQL are on a disk that is full, then space again',
    run: fullTables,
  },
  {
    name: 'postgres-full-log',
    about: 'PostgreSQL ends itself, as its log is on a full disk; space again, and a restart',
    run: fullLog,
  },
]
