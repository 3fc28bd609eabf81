// A backend that is stopped in mid-statement, given up, and resumed later: what the lane is for.
import { SQL } from 'bun'
import { PASSWORD } from '../../../tools/postgres/server.ts'
import { comesTrue, type Fault, type Outcome } from './fault.ts'
import { after } from './lab.ts'
import { DATABASE, type Server, serveBefore, startServer, urlOf } from './postgres-server.ts'

/** Stops a backend; returns a function that resumes it, and resolves when it has ended. */
function stopBackend(server: Server, pid: number): () => Promise<void> {
  process.kill(pid, 'SIGSTOP')
  const isThere = async () => {
    const rows = await server.query(`SELECT pid FROM pg_stat_activity WHERE pid = ${pid}`)
    return rows.length > 0
  }
  return async () => {
    process.kill(pid, 'SIGCONT')
    if (!(await comesTrue(5000, async () => !(await isThere()))))
      throw new Error('the backend stays')
  }
}

async function underStoppedBackend(about: string): Promise<Outcome> {
  const server = await startServer()
  await server.createDatabase(DATABASE)
  const daemon = await serveBefore(urlOf([server]))
  const problems: string[] = []
  const expect = async (what: string, answer: Promise<Response>, status: number) => {
    const found = (await answer).status
    if (found !== status) problems.push(`${what} is answered with ${found}`)
  }
  await expect('a create', daemon.create('{"id":1,"name":"Rosa"}'), 200)
  const [writer] = await server.query(
    `SELECT pid FROM pg_stat_activity WHERE datname = '${DATABASE}' AND query LIKE '%lanes%'`,
  )
  const resume = stopBackend(server, writer.pid)
  await expect('a create in doubt', daemon.create('{"id":2,"name":"Rosa"}'), 200)
  await expect('a delete', daemon.fetch('/plants/2', { method: 'DELETE' }), 204)
  await resume()
  await expect('a read', daemon.fetch('/plants/2'), 404)
  const notMade = await daemon.metric('plantstore_commits_in_doubt_total{made="false"}')
  if (notMade !== 1) problems.push(`${notMade} commits count as not made`)
  await daemon.stop()
  return { tried: about, many: 'one create', lost: 'the deleted plant stays away', problems }
}

/** The same with a client that reads back what was in doubt, and trusts what it finds. */
async function readBack(about: string): Promise<Outcome> {
  const server = await startServer()
  await server.createDatabase(DATABASE)
  const open = () => {
    const sql = new SQL({
      adapter: 'postgres',
      hostname: '127.0.0.1',
      port: server.port,
      username: 'admin',
      password: PASSWORD,
      database: DATABASE,
      tls: 'disable',
      max: 1,
    })
    const giveUp = after(() => sql.close({ timeout: 0 }))
    return { run: (statement: string) => sql.unsafe(statement).simple(), giveUp }
  }
  const insert = "INSERT INTO plants VALUES (2, 'Rosa')"
  const select = 'SELECT id FROM plants WHERE id = 2'
  const problems: string[] = []
  const first = open()
  await first.run('CREATE TABLE plants (id bigint PRIMARY KEY, name text)')
  const [{ pid }] = await first.run('SELECT pg_backend_pid() AS pid')
  const resume = stopBackend(server, pid)
  const lost = first.run(insert).then(
    () => problems.push('it was answered'),
    () => {},
  )
  await Bun.sleep(200)
  await first.giveUp()
  await lost

  const second = open()
  if ((await second.run(select)).length > 0) problems.push('it was made at once')
  await second.run(insert)
  await second.run('DELETE FROM plants WHERE id = 2')
  await resume()
  if ((await second.run(select)).length === 0) problems.push('the deleted plant stays away')
  return { tried: about, many: 'one create', lost: 'the deleted plant is back', problems }
}

export const postgresLaneFaults: Fault[] = [
  {
    name: 'postgres-lane',
    about: 'a backend that was given up goes on: what it was asked for is not made any more',
    run() {
      return underStoppedBackend(this.about)
    },
  },
  {
    name: 'postgres-lane-control',
    about: 'the same by reading back, without a lane: a plant that was deleted is back',
    run() {
      return readBack(this.about)
    },
  },
]
