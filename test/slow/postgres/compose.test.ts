// The system of deploy/compose.scaling.yaml, with Debian's PostgreSQL instead of its images; and the failover of
// docs/failover.md.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { appendFileSync, chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { SQL, YAML } from 'bun'
import { freePort } from '../../../tools/free-port'
import { INSTALLATIONS, isInstalled, PASSWORD } from '../../../tools/postgres/server'
import { PATIENCE_MS, root, startDaemon, temporaryFolder } from '../../harness/daemon'
import { type Process, runWell, startProcess } from '../../harness/process'
import { until } from '../../harness/until'
import { acknowledged, plantOf, startLoad } from '../faults/load'

setDefaultTimeout(2 * PATIENCE_MS)

const Compose = Type.Object({
  'x-plantstore': Type.Object({
    environment: Type.Object({ PLANTSTORE_DATABASE: Type.String() }),
  }),
  services: Type.Object({
    'postgres-2': Type.Object({ entrypoint: Type.Array(Type.String()) }),
    'plantstore-reader': Type.Object({ environment: Type.Record(Type.String(), Type.String()) }),
  }),
})

const read = (name: string) => readFileSync(join(root, 'deploy', name), 'utf8')
const compose = Value.Parse(Compose, YAML.parse(read('compose.scaling.yaml')))
const [debian] = INSTALLATIONS
const canRun = debian !== undefined && isInstalled(debian) && process.getuid?.() === 0
const bin = debian?.bin ?? ''

async function untilReady(port: number): Promise<SQL> {
  return until(`PostgreSQL on port ${port}`, async () => {
    const sql = new SQL({
      adapter: 'postgres',
      hostname: '127.0.0.1',
      port,
      username: 'plantstore',
      password: PASSWORD,
      database: 'postgres',
      tls: 'disable',
      max: 1,
    })
    try {
      await sql`SELECT 1`
      return sql
    } catch {
      return null
    }
  })
}

type Name = 'primary' | 'standby'

/** A folder with what the images have, and the servers that run in it. */
function openLab(folder: ReturnType<typeof temporaryFolder>) {
  chmodSync(folder.path, 0o755)
  const gosu =
    '#!/bin/sh\nuser=$1\nshift\nexec setpriv --reuid="$user" --regid="$user" --clear-groups "$@"\n'
  writeFileSync(folder.file('gosu'), gosu, { mode: 0o755 })
  writeFileSync(folder.file('password'), PASSWORD, { mode: 0o644 })
  const sockets = folder.file('sockets')
  mkdirSync(sockets)
  chmodSync(sockets, 0o777)
  const ports = { primary: freePort(), standby: freePort() }
  const dataOf = (name: Name) => folder.file(`${name}/data`)
  const optionsOf = (name: Name) => ({
    cwd: folder.path,
    env: {
      PATH: `${folder.path}:${bin}:${Bun.env.PATH}`,
      PGDATA: dataOf(name),
      PGPORT: String(ports[name]),
    },
  })
  const processes: Process[] = []
  return {
    folder,
    sockets,
    ports,
    dataOf,
    shell: (name: Name, ...words: readonly string[]) => runWell(words, optionsOf(name)),
    serve(name: Name, words: readonly string[]): Process {
      const child = startProcess(words, optionsOf(name))
      processes.push(child)
      return child
    },
    /** A text of the compose file, with ports of this machine for the names of services. */
    here: (text: string): string =>
      text
        .replaceAll('/run/secrets/database-password', folder.file('password'))
        .replaceAll('host=postgres-1', `host=127.0.0.1 port=${ports.primary}`)
        .replace(
          '@postgres-1,postgres-2/',
          `@127.0.0.1:${ports.primary},127.0.0.1:${ports.standby}/`,
        )
        .replace('@postgres-2/', `@127.0.0.1:${ports.standby}/`),
    async [Symbol.asyncDispose](): Promise<void> {
      for (const child of processes) if (child.alive()) await child.stop('SIGQUIT')
    },
  }
}

type Lab = ReturnType<typeof openLab>

/** Starts the primary and its synchronous standby, as the compose file does. */
async function startServers({ folder, sockets, ports, dataOf, shell, serve, here }: Lab) {
  // The image creates this database at its first start.
  await shell('primary', 'install', '-d', '-o', 'postgres', folder.file('primary'))
  const initdb = ['initdb', '-U', 'plantstore', '--pwfile', folder.file('password'), '-A', 'trust']
  await shell('primary', 'gosu', 'postgres', ...initdb, '--encoding=UTF8', '--data-checksums')
  const data = dataOf('primary')
  appendFileSync(`${data}/pg_hba.conf`, 'host all all all scram-sha-256\n')
  appendFileSync(`${data}/postgresql.conf`, `unix_socket_directories = '${sockets}'\n`)
  await shell('primary', 'gosu', 'postgres', 'sh', join(root, 'deploy/postgres-first-start.sh'))
  const primary = serve('primary', ['gosu', 'postgres', 'postgres'])
  const onPrimary = await untilReady(ports.primary)
  await onPrimary.unsafe('SET synchronous_commit = local').simple()
  await onPrimary.unsafe('CREATE DATABASE plants').simple()

  const { entrypoint } = compose.services['postgres-2']
  serve(
    'standby',
    entrypoint.map((word) => here(word.replaceAll('$$', '$'))),
  )
  const onStandby = await untilReady(ports.standby)
  const standbys = () => onPrimary`SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'`
  await until('a synchronous standby', async () => (await standbys()).length)
  return { primary, onStandby }
}

// The numbers of plants of the second daemon.
const SECOND = 1e9

test.skipIf(!canRun)(
  'the compose file runs a primary and a synchronous standby, and a failover loses nothing',
  async () => {
    using folder = temporaryFolder()
    await using lab = openLab(folder)
    const { primary, onStandby } = await startServers(lab)
    const env = {
      PLANTSTORE_DATABASE: lab.here(compose['x-plantstore'].environment.PLANTSTORE_DATABASE),
      PLANTSTORE_DATABASE_PASSWORD_FILE: folder.file('password'),
    }
    await using first = await startDaemon({ env })
    await using second = await startDaemon({ env })
    const daemons = [first, second]
    const loads = daemons.map((daemon, place) =>
      startLoad(daemon, { clients: 1, from: 1 + place * SECOND }),
    )
    const untilMore = async () => {
      for (const { ledger } of loads) expect(await acknowledged(ledger, 150, 45_000)).toBeTrue()
    }
    await untilMore()
    const { environment } = compose.services['plantstore-reader']
    const PLANTSTORE_DATABASE = lab.here(environment.PLANTSTORE_DATABASE ?? '')
    await using reader = await startDaemon({
      env: { ...environment, ...env, PLANTSTORE_DATABASE, PLANTSTORE_TOKEN_FILE: '' },
    })
    expect((await reader.fetch(`/plants/${plantOf(1).id}`)).status).toBe(200)
    expect((await reader.create('{"id":0,"name":"x"}')).status).toBe(403)

    await primary.stop('SIGQUIT')
    await lab.shell('standby', 'gosu', 'postgres', 'pg_ctl', 'promote')
    await onStandby.unsafe('ALTER SYSTEM RESET synchronous_standby_names').simple()
    await onStandby.unsafe('SELECT pg_reload_conf()').simple()
    await untilMore()
    for (const { stop } of loads) await stop()

    const lost: number[] = []
    for (const [n, { fate }] of loads.flatMap(({ ledger }) => [...ledger])) {
      if (fate !== 'stored') continue
      if ((await second.fetch(`/plants/${plantOf(n).id}`)).status !== 200) lost.push(n)
    }
    expect(lost).toEqual([])
    for (const daemon of daemons) {
      expect(daemon.events().map(({ event }) => event)).toContain('server-moved')
      expect(await daemon.metric('plantstore_acknowledged_commits_lost_total')).toBe(0)
    }
  },
)
