import { join } from 'node:path'
import { launch, serve } from './daemon.ts'
import { comesTrue, count, type Fault, tally } from './fault.ts'
import { need } from './lab.ts'
import { acknowledged, type Ledger, recovers, settle, startLoad } from './load.ts'
import { faultsOf, verify } from './verify.ts'

const kills = 20

export const killFaults: Fault[] = [
  {
    name: 'kill',
    about: 'kill -9 under load, again and again on one file',
    async run(folder) {
      const database = join(folder, 'plants.db')
      const ledger: Ledger = new Map()
      const problems: string[] = []
      let unknown = 0
      for (let i = 0; i < kills; i++) {
        const daemon = await serve(database)
        await settle(daemon, ledger)
        // By turns so many that the next commit is under way when the last is answered.
        const load = startLoad(daemon, { ledger, clients: i % 2 === 0 ? 16 : 200 })
        await acknowledged(ledger, 20, 5000)
        await Bun.sleep(Math.random() * 300)
        await daemon.kill()
        await load.stop()
        unknown += tally(ledger).unknown
        problems.push(...faultsOf(verify(database, ledger)))
      }
      const daemon = await serve(database)
      await settle(daemon, ledger)
      const { stored, refused, unknown: unsettled } = tally(ledger)
      if (refused > 0) problems.push(`${count(refused, 'plant')} refused`)
      if (unsettled > 0) problems.push(`${count(unsettled, 'plant')} unknown after a retry`)
      if ((await daemon.stop()) !== 0) problems.push('a bad exit code after SIGTERM')
      const verdict = verify(database, ledger)
      problems.push(...faultsOf(verdict))
      return {
        tried: 'kill -9 under load, on one file; what was unanswered is sent again',
        many: `${kills} kills, ${count(stored, 'plant')} acknowledged, ${unknown} sent again`,
        lost: `${verdict.lost} lost`,
        problems,
      }
    },
  },
  {
    name: 'kill-first-start',
    about: 'kill -9 at each second write of the first start',
    async run(folder) {
      await need('strace')
      const problems: string[] = []
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
          if (!(await recovers(daemon, new Map(), 5000))) problems.push('no creates after it')
          await daemon.stop()
        } catch (error) {
          problems.push(`after write ${write}: ${error}`.replaceAll(folder, ''))
        }
      }
      if (killed === 0) problems.push('it was never killed')
      return {
        tried: this.about,
        many: count(killed, 'kill'),
        lost: `${problems.length} times no start`,
        problems,
      }
    },
  },
]
