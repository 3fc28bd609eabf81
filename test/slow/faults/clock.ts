import { Database } from 'bun:sqlite'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { once, request } from '../../harness/http.ts'
import { type Daemon, plantstore, serve } from './daemon.ts'
import { comesTrue, count, type Fault, tally } from './fault.ts'
import { need, preload, sh } from './lab.ts'
import { acknowledged, health, startLoad } from './load.ts'
import { faultsOf, verify } from './verify.ts'

const years = [10, -10, 500, -40, -60, 0]
const yearSeconds = 31_556_952

function setJump(file: string, seconds: number): void {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(BigInt(seconds))
  // In place, since the daemon has the file mapped.
  const fd = fs.openSync(file, fs.constants.O_RDWR | fs.constants.O_CREAT)
  fs.writeSync(fd, bytes, 0, 8, 0)
  fs.closeSync(fd)
}

async function statusFor(daemon: Daemon, token: string): Promise<number | undefined> {
  return (await once(daemon.port, request('GET', '/plants/1', token)))?.status
}

export const clockFaults: Fault[] = [
  {
    name: 'clock',
    about: 'the clock jumps by years either way under load: only the expiry of a token notices',
    async run(folder) {
      await need('gcc')
      const clock = join(folder, 'clock')
      setJump(clock, 0)
      const database = join(folder, 'plants.db')
      const daemon = await serve(database, {
        env: { LD_PRELOAD: await preload(folder, 'clock'), FAULT_CLOCK: clock },
      })
      const [program = ''] = plantstore
      const create = ['token', 'create', 'month', '--expires', '30d', '--database', database]
      const expiring = /pst_\S+/.exec(await sh(program, ...create))?.[0] ?? ''
      const load = startLoad(daemon, { clients: 8 })
      const problems: string[] = []
      for (const year of years) {
        setJump(clock, year * yearSeconds)
        if (!(await acknowledged(load.ledger, 100, 10_000))) problems.push(`${year} years: stuck`)
        const expected = year > 0 ? 401 : 404
        if (
          !(await comesTrue(1500, async () => (await statusFor(daemon, expiring)) === expected))
        ) {
          problems.push(`${year} years: the token is answered ${await statusFor(daemon, expiring)}`)
        }
        if ((await health(daemon)) !== 200) problems.push(`${year} years: health is bad`)
      }
      setJump(clock, -20 * yearSeconds)
      await load.stop()
      const { stored, refused, unknown } = tally(load.ledger)
      if (refused + unknown > 0) problems.push(`${refused} refused, ${unknown} unanswered`)
      if ((await daemon.stop()) !== 0) problems.push('a bad exit code after SIGTERM')
      const verdict = verify(database, load.ledger)
      problems.push(...faultsOf(verdict))
      return {
        tried: this.about,
        many: `${years.length} jumps, ${count(stored, 'plant')} acknowledged`,
        lost: `${verdict.lost} lost`,
        problems,
      }
    },
  },
  {
    name: 'clock-start',
    about: 'the clock is a year ahead at one start: the change log stays',
    async run(folder) {
      await need('gcc')
      const clock = join(folder, 'clock')
      const database = join(folder, 'plants.db')
      const env = { LD_PRELOAD: await preload(folder, 'clock'), FAULT_CLOCK: clock }
      const problems: string[] = []
      let kept = 1
      for (const year of [0, 1, 0]) {
        setJump(clock, year * yearSeconds)
        const daemon = await serve(database, { env, words: ['--keep-changes', '30d'] })
        const load = startLoad(daemon, { clients: 4 })
        if (!(await acknowledged(load.ledger, 100, 10_000))) problems.push(`${year} years: stuck`)
        await load.stop()
        // Every build so far removed old entries within seconds.
        await Bun.sleep(5000)
        const entries = new Database(database).query('SELECT count(*) AS n FROM changes').get()
        const { n } = entries as { n: number }
        if (n < kept) problems.push(`${year} years: ${n} entries are left of ${kept}`)
        kept = n
        if ((await daemon.stop()) !== 0) problems.push('a bad exit code after SIGTERM')
      }
      return {
        tried: this.about,
        many: `3 starts, ${count(kept, 'change')}`,
        lost: `${problems.length === 0 ? 0 : 'some'} lost`,
        problems,
      }
    },
  },
]
