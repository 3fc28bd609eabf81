import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, request } from '../../harness/http.ts'
import { serve } from './daemon.ts'
import { comesTrue, count, type Fault, tally } from './fault.ts'
import { after, needGo, preload, sh } from './lab.ts'
import { acknowledged, type Ledger, startLoad } from './load.ts'
import { faultsOf, verify } from './verify.ts'

const times = 10
// Half of the deadline that it has by default.
const SOON_MS = 4000
// Clients that all have a request in flight, or are about to send one.
const GO_CLIENTS = 32

export const sigtermFaults: Fault[] = [
  {
    name: 'sigterm',
    about: 'SIGTERM under load: every request on a connection that is kept is answered',
    async run(folder) {
      const database = join(folder, 'plants.db')
      const ledger: Ledger = new Map()
      const problems: string[] = []
      let slowest = 0
      for (let i = 0; i < times; i++) {
        const daemon = await serve(database)
        // Busy clients, and some that think between two requests.
        const busy = startLoad(daemon, { ledger, clients: 16, from: 1 + i * 1e6 })
        await acknowledged(ledger, 1, 5000)
        const from = 1e9 + i * 1e6
        const calm = startLoad(daemon, { ledger, clients: 8, from, pauseMs: 40 })
        // A request that is never whole may hold the end up to a deadline: once is enough.
        const half = i === 0 ? await connect(daemon.port) : undefined
        half?.write(request('POST', '/plants', daemon.token, '{"id":1').slice(0, -5))
        await Bun.sleep(100 + Math.random() * 300)
        const start = performance.now()
        const code = await daemon.stop()
        slowest = Math.max(slowest, performance.now() - start)
        await Promise.all([busy.stop(), calm.stop()])
        half?.end()
        if (code !== 0) problems.push(`exit code ${code}`)
        if (existsSync(`${database}-wal`)) problems.push('the WAL is left')
      }
      const { stored, refused, unknown } = tally(ledger)
      if (unknown > 0) problems.push(`${count(unknown, 'request')} without an answer`)
      if (refused > 0) problems.push(`${count(refused, 'plant')} refused`)
      const verdict = verify(database, ledger)
      problems.push(...faultsOf(verdict))
      return {
        tried: 'SIGTERM under load, with clients that pause and one that stops in mid-request',
        many: `${times} times, ${count(ledger.size, 'request')} sent, ${stored} acknowledged`,
        lost: `${unknown} unanswered, ${verdict.lost} lost (slowest end ${Math.round(slowest)} ms)`,
        problems,
      }
    },
  },
  {
    name: 'sigterm-reconnect',
    about: 'SIGTERM while clients connect anew for each request: it ends soon, and loses nothing',
    async run(folder) {
      const database = join(folder, 'plants.db')
      const ledger: Ledger = new Map()
      const problems: string[] = []
      const clients = 4
      let slowest = 0
      for (let i = 0; i < times; i++) {
        const daemon = await serve(database)
        const from = 1 + i * 1e6
        const load = startLoad(daemon, { ledger, clients, from, pauseMs: 2, reconnect: true })
        await acknowledged(ledger, 100, 5000)
        const start = performance.now()
        const code = await daemon.stop()
        slowest = Math.max(slowest, performance.now() - start)
        await load.stop()
        if (code !== 0) problems.push(`exit code ${code}`)
      }
      const { stored, unknown } = tally(ledger)
      // A connection that is opened in the moment in which it stops may be reset.
      if (unknown > times) problems.push(`${count(unknown, 'request')} without an answer`)
      if (slowest > SOON_MS) problems.push(`an end after ${Math.round(slowest)} ms`)
      const verdict = verify(database, ledger)
      problems.push(...faultsOf(verdict))
      return {
        tried: this.about,
        many: `${times} times, ${count(ledger.size, 'request')} sent, ${stored} acknowledged`,
        lost: `${unknown} unanswered, ${verdict.lost} lost (slowest end ${Math.round(slowest)} ms)`,
        problems,
      }
    },
  },
  {
    name: 'sigterm-go',
    about: 'restarts under busy Go clients that do not retry: no connection is reset',
    async run(folder) {
      const client = join(folder, 'restarts')
      await sh(...(await needGo()), 'build', '-o', client, join(import.meta.dir, 'restarts.go'))
      const database = join(folder, 'plants.db')
      const problems: string[] = []
      let daemon = await serve(database)
      const { port } = daemon
      // The flag that comes last counts.
      const wrap = ['sh', '-c', `exec "$@" --port ${port}`, 'sh']
      const words = [`http://127.0.0.1:${port}`, daemon.token, String(GO_CLIENTS)]
      const go = Bun.spawn([client, ...words], { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' })
      after(() => go.kill('SIGKILL'))
      let slowest = 0
      for (let i = 0; i < times; i++) {
        await Bun.sleep(300)
        const start = performance.now()
        const code = await daemon.stop()
        slowest = Math.max(slowest, performance.now() - start)
        if (code !== 0) problems.push(`exit code ${code}`)
        daemon = await serve(database, { wrap })
      }
      go.stdin.end()
      const [out, errors] = await Promise.all([
        new Response(go.stdout).text(),
        new Response(go.stderr).text(),
      ])
      const counts: { answered: number; broken: number } = JSON.parse(out)
      await daemon.stop()
      // One client that the machine keeps from its turn may lose its connection; never all of them, as each stop did.
      if (counts.broken > GO_CLIENTS) problems.push(`resets: ${errors.split('\n', 1)}`)
      if (counts.answered === 0) problems.push('no answers')
      if (slowest > SOON_MS) problems.push(`an end after ${Math.round(slowest)} ms`)
      const stored = verify(database, new Map()).strange
      if (stored < counts.answered) problems.push(`${stored} plants of ${counts.answered}`)
      return {
        tried: this.about,
        many: `${times} restarts, ${count(counts.answered, 'create')} by ${GO_CLIENTS} clients`,
        lost: `${counts.broken} resets (slowest end ${Math.round(slowest)} ms)`,
        problems,
      }
    },
  },
  {
    name: 'sigterm-hang',
    about:
      'SIGTERM on a disk that hangs in an fsync: it ends in time with 74, or at a second signal',
    async run(folder) {
      const problems: string[] = []
      const ledger: Ledger = new Map()
      const database = join(folder, 'plants.db')
      const STALL = join(folder, 'stall')
      const env = { LD_PRELOAD: await preload(folder, 'stall'), STALL }
      for (const signals of [1, 2]) {
        const stopSeconds = signals === 1 ? '2' : '3600'
        const daemon = await serve(database, {
          env: { ...env, PLANTSTORE_STOP_SECONDS: stopSeconds },
        })
        const load = startLoad(daemon, { ledger, clients: 8 })
        await acknowledged(ledger, 50, 5000)
        writeFileSync(STALL, '')
        after(() => rmSync(STALL, { force: true }))
        await Bun.sleep(200)
        daemon.signal('SIGTERM')
        if (signals === 2) {
          await comesTrue(5000, () => daemon.err().includes('"stopping"'))
          // One that follows at once counts as the same.
          await Bun.sleep(100)
          daemon.signal('SIGTERM')
        }
        // A daemon that waits for the disk never ends.
        const code = await Promise.race([daemon.exited, Bun.sleep(15_000)])
        if (code === undefined) await daemon.kill()
        const [expected, event] = signals === 1 ? [74, 'stop-timed-out'] : [143, 'stopped-at-once']
        if (code !== expected) problems.push(`exit code ${code ?? 'none'}, not ${expected}`)
        if (!daemon.err().includes(event)) problems.push(`no line ${event}`)
        rmSync(STALL)
        await load.stop()
      }
      const verdict = verify(database, ledger)
      problems.push(...faultsOf(verdict))
      return {
        tried: this.about,
        many: count(ledger.size, 'request'),
        lost: `${verdict.lost} lost`,
        problems,
      }
    },
  },
]
