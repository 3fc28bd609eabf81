import * as fs from 'node:fs'
import { join } from 'node:path'
import { once, request } from '../../harness/http.ts'
import { type Daemon, plantstore, serve } from './daemon.ts'
import type { Fault } from './fault.ts'
import { preload, sh } from './lab.ts'
import { acknowledged, health, startLoad, tally } from './load.ts'
import { endWell } from './verify.ts'

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
    async run(folder, report) {
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
      for (const year of years) {
        setJump(clock, year * yearSeconds)
        report.expect(await acknowledged(load.ledger, 100, 10_000), `${year} years: stuck`)
        const expected = year > 0 ? 401 : 404
        const isExpected = async () => (await statusFor(daemon, expiring)) === expected
        await report.expectSoon(1500, isExpected, `${year} years: the token is not ${expected}`)
        report.expect((await health(daemon)) === 200, `${year} years: health is bad`)
      }
      setJump(clock, -20 * yearSeconds)
      await load.stop()
      const { refused, unknown } = tally(load.ledger)
      report.expect(refused + unknown === 0, `${refused} refused, ${unknown} unanswered`)
      await endWell(daemon, database, load.ledger, report)
    },
  },
]
