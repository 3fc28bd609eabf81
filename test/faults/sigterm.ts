import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { serve } from './daemon.ts'
import { count, type Fault, tally } from './fault.ts'
import { connect, request } from './http.ts'
import { acknowledged, type Ledger, startLoad } from './load.ts'
import { faultsOf, verify } from './verify.ts'

const times = 10
// Half of the deadline that it has by default.
const SOON_MS = 5000

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
      // The last request of each client may meet the end of the daemon.
      if (unknown > times * clients) problems.push(`${count(unknown, 'request')} without an answer`)
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
]
