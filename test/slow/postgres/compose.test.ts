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
import { builtProgram, PATIENCE_MS, root, startDaemon, temporaryFolder } from '../../harness/daemon'
import { type Process, run, startProcess } from '../../harness/process'
import { until } from '../../harness/until'

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

test.skipIf(!canRun)(
  'the compose file runs a primary and a synchronous standby, and a failover loses nothing',
  async () => {
    const compose = Value.Parse(Compose, YAML.parse(read('compose.scaling.yaml')))
    using folder = temporaryFolder()
    chmodSync(folder.path, 0o755)
    const gosu =
      '#!/bin/sh\nuser=$1\nshift\nexec setpriv --reuid="$user" --regid="$user" --clear-groups "$@"\n'
    writeFileSync(folder.file('gosu'), gosu, { mode: 0o755 })
    writeFileSync(folder.file('password'), PASSWORD, { mode: 0o644 })
    const sockets = folder.file('sockets')
    mkdirSync(sockets)
    chmodSync(sockets, 0o777)
    const ports = { primary: freePort(), standby: freePort() }
    const environment = (name: keyof typeof ports) => ({
      PATH: `${folder.path}:${bin}:${Bun.env.PATH}`,
      PGDATA: folder.file(`${name}/data`),
      PGPORT: String(ports[name]),
    })
    const shell = async (name: keyof typeof ports, ...words: readonly string[]) => {
      const { code, out, err } = await run(words, { cwd: folder.path, env: environment(name) })
      if (code !== 0) throw new Error(`${words.join(' ')}: ${out}${err}`)
    }
    // Service names become ports of this machine.
    const here = (text: string) =>
      text
        .replaceAll('/run/secrets/database-password', folder.file('password'))
        .replaceAll('host=postgres-1', `host=127.0.0.1 port=${ports.primary}`)
        .replace(
          '@postgres-1,postgres-2/',
          `@127.0.0.1:${ports.primary},127.0.0.1:${ports.standby}/`,
        )
        .replace('@postgres-2/', `@127.0.0.1:${ports.standby}/`)
    const processes: Process[] = []

    try {
      // The image creates this database at its first start.
      await shell('primary', 'install', '-d', '-o', 'postgres', folder.file('primary'))
      const initdb = [
        'initdb',
        '-U',
        'plantstore',
        '--pwfile',
        folder.file('password'),
        '-A',
        'trust',
      ]
      await shell('primary', 'gosu', 'postgres', ...initdb, '--encoding=UTF8', '--data-checksums')
      const { PGDATA } = environment('primary')
      appendFileSync(`${PGDATA}/pg_hba.conf`, 'host all all all scram-sha-256\n')
      appendFileSync(`${PGDATA}/postgresql.conf`, `unix_socket_directories = '${sockets}'\n`)
      await shell('primary', 'gosu', 'postgres', 'sh', join(root, 'deploy/postgres-first-start.sh'))
      const options = { cwd: folder.path }
      const serve = (name: keyof typeof ports, words: readonly string[]) => {
        const child = startProcess(words, { ...options, env: environment(name) })
        processes.push(child)
        return child
      }
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

      const env = {
        PLANTSTORE_DATABASE: here(compose['x-plantstore'].environment.PLANTSTORE_DATABASE),
        PLANTSTORE_DATABASE_PASSWORD_FILE: folder.file('password'),
      }
      await using first = await startDaemon({ program: builtProgram(), env })
      await using second = await startDaemon({ program: builtProgram(), env })
      const daemons = [first, second]
      const acknowledgedIds: number[] = []
      let next = 1
      let isOver = false
      const clients = daemons.map(async (daemon) => {
        while (!isOver) {
          const id = next
          next += 1
          const answer = await daemon.create(`{"id":${id},"name":"plant ${id}"}`)
          if (answer.status === 200) acknowledgedIds.push(id)
        }
      })
      await until('300 creates', () => acknowledgedIds.length >= 300)
      const { environment: ofReader } = compose.services['plantstore-reader']
      await using reader = await startDaemon({
        program: builtProgram(),
        env: {
          ...env,
          ...ofReader,
          PLANTSTORE_DATABASE: here(ofReader.PLANTSTORE_DATABASE ?? ''),
          PLANTSTORE_DATABASE_PASSWORD_FILE: folder.file('password'),
          PLANTSTORE_TOKEN_FILE: '',
        },
      })
      expect((await reader.fetch('/plants/1')).status).toBe(200)
      expect((await reader.create('{"id":0,"name":"x"}')).status).toBe(403)

      await primary.stop('SIGQUIT')
      await shell('standby', 'gosu', 'postgres', 'pg_ctl', 'promote')
      const before = acknowledgedIds.length
      await onStandby.unsafe('ALTER SYSTEM RESET synchronous_standby_names').simple()
      await onStandby.unsafe('SELECT pg_reload_conf()').simple()
      await until('300 more creates', () => acknowledgedIds.length >= before + 300)
      isOver = true
      await Promise.all(clients)

      const lostIds = []
      for (const id of acknowledgedIds) {
        const { status } = await second.fetch(`/plants/${id}`)
        if (status !== 200) lostIds.push(id)
      }
      expect(lostIds).toEqual([])
      for (const daemon of daemons) {
        expect(daemon.events().map(({ event }) => event)).toContain('server-moved')
        expect(await (await daemon.fetch('/metrics')).text()).toContain(
          'plantstore_acknowledged_commits_lost_total 0\n',
        )
      }
    } finally {
      for (const child of processes) if (child.alive()) await child.stop('SIGQUIT')
    }
  },
)
