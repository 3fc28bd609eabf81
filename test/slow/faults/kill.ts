import { join } from 'node:path'
import { launch, serve } from './daemon.ts'
import { comesTrue, type Fault } from './fault.ts'
import { need } from './lab.ts'
import { acknowledged, type Ledger, recovers, settle, startLoad, tally } from './load.ts'
import { faultsOf, startAgain, verify } from './verify.ts'

const KILLS = 20

export const killFaults: Fault[] = [
  {
    name: 'kill',
    about: 'kill -9 under load, again and again on one file',
    async run(folder, report) {
      const database = join(folder, 'plants.db')
      const ledger: Ledger = new Map()
      for (let i = 0; i < KILLS; i++) {
        const daemon = await serve(database)
        await settle(daemon, ledger)
        // By turns so many that the next commit is under way when the last is answered.
        const load = startLoad(daemon, { ledger, clients: i % 2 === 0 ? 16 : 200 })
        await acknowledged(ledger, 20, 5000)
        await Bun.sleep(Math.random() * 300)
        await daemon.kill()
        await load.stop()
        report.note(...faultsOf(verify(database, ledger)))
      }
      await startAgain(database, ledger, report)
      const { refused, unknown } = tally(ledger)
      report.expect(refused + unknown === 0, 'some are refused, or unanswered after a retry')
    },
  },
  {
    name: 'kill-first-start',
    about: 'kill -9 at each second write of the first start',
    async run(folder, report) {
      await need('strace')
      const strace = ['strace', '-D', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=pwrite64', '-e']
      let killed = 0
      for (let write = 1; write < 100; write += 2) {
        const database = join(folder, `${write}.db`)
        const inject = `inject=pwrite64:signal=KILL:when=${write}`
        const run = launch(database, { wrap: [...strace, inject] })
        let ended = false
        run.exited.then(() => {
          ended = true
        })
        await comesTrue(5000, () => ended || run.err().includes('"listening"'))
        if (!ended) break
        killed++
        try {
          const daemon = await serve(database)
          report.expect(await recovers(daemon, new Map(), 5000), 'no creates after it')
          await daemon.stop()
        } catch (error) {
          report.note(`after write ${write}: ${error}`.replaceAll(folder, ''))
        }
      }
      report.expect(killed > 0, 'it was never killed')
    },
  },
]
