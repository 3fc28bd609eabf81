import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { leavesOf, overwrite, PAGE_BYTES } from '../../harness/damage.ts'
import { once, request } from '../../harness/http.ts'
import { inTime } from '../../harness/until.ts'
import { type Daemon, launch, serve } from './daemon.ts'
import { type Damage, damages, random } from './damage.ts'
import { count, type Fault } from './fault.ts'
import {
  acknowledged,
  bodyOf,
  create,
  type Ledger,
  nextNumber,
  plantOf,
  startLoad,
} from './load.ts'
import { faultsOf, verify } from './verify.ts'

function fingerprint(folder: string): string {
  const hash = createHash('sha256')
  for (const name of fs.readdirSync(folder, { recursive: true }).map(String).sort()) {
    const file = join(folder, name)
    const { mode, size } = fs.statSync(file)
    hash.update(`${name} ${mode} ${size} `)
    if (fs.statSync(file).isFile()) hash.update(fs.readFileSync(file))
  }
  return hash.digest('hex')
}

async function healthyStore(database: string): Promise<Ledger> {
  fs.mkdirSync(dirname(database))
  const daemon = await serve(database)
  const load = startLoad(daemon)
  await acknowledged(load.ledger, 500, 10_000)
  await load.stop()
  await daemon.stop()
  return load.ledger
}

async function reading(daemon: Daemon, n: number): Promise<'right' | 'refused' | 'wrong'> {
  const path = `/plants/${plantOf(n).id}`
  const answer = await once(daemon.port, request('GET', path, daemon.token))
  if (answer?.status === 503) return 'refused'
  return answer?.status === 200 && answer.body === bodyOf(n) ? 'right' : 'wrong'
}

function refusal(damage: Damage): Fault {
  return {
    name: `file-${damage.name}`,
    about: `${damage.about}: one clear line, exit code, nothing touched`,
    async run(folder) {
      fs.chmodSync(dirname(folder), 0o755)
      const store = join(folder, 'store')
      const database = join(store, 'plants.db')
      await healthyStore(database)
      const start = await damage.harm(database)
      const before = fingerprint(store)
      const run = launch(start?.database ?? database, start)
      const code = await inTime(() => 'its end', run.exited, 10_000).catch((error) => `${error}`)
      await inTime(() => 'the end of its words', run.finished, 1000).catch(() => {})
      const lines = run.err().trimEnd().split('\n')
      const problems: string[] = []
      if (typeof code !== 'number' || !damage.codes.includes(code)) {
        problems.push(`exit code ${code}, not ${damage.codes.join(' or ')}`)
      }
      if (lines.length !== 1 || lines[0] === '') problems.push(`says ${lines.length} lines`)
      const touched = fingerprint(store) !== before
      if (touched) problems.push('files were touched')
      return {
        tried: damage.about,
        many: `exit code ${code}: ${lines[0]?.replaceAll(folder, '')}`,
        lost: touched ? 'touched' : 'nothing touched',
        problems,
      }
    },
  }
}

export const fileFaults: Fault[] = [
  ...damages.map(refusal),
  {
    name: 'file-random-wal',
    about: 'a WAL of random bytes beside a whole database: it is no WAL, and is passed over',
    async run(folder) {
      fs.chmodSync(dirname(folder), 0o755)
      const database = join(folder, 'store', 'plants.db')
      const ledger = await healthyStore(database)
      fs.writeFileSync(`${database}-wal`, random(1 << 20))
      const daemon = await serve(database)
      const n = nextNumber(ledger)
      const problems: string[] = []
      const answer = await create(daemon, n)
      if (answer?.status !== 200) problems.push(`a create is answered ${answer?.status}`)
      ledger.set(n, { fate: 'stored', error: 0 })
      if ((await daemon.stop()) !== 0) problems.push('a bad exit code')
      const verdict = verify(database, ledger)
      problems.push(...faultsOf(verdict))
      return {
        tried: this.about,
        many: count(ledger.size, 'plant'),
        lost: `${verdict.lost} lost`,
        problems,
      }
    },
  },
  {
    name: 'file-flipped-page',
    about:
      'all pages of plants but one are overwritten: what cannot be read is an error, never a wrong plant',
    async run(folder) {
      const database = join(folder, 'store', 'plants.db')
      const ledger = await healthyStore(database)
      for (const page of leavesOf(database, 'plants').slice(1)) {
        overwrite(database, (page - 1) * PAGE_BYTES, random(PAGE_BYTES))
      }
      const problems: string[] = []
      const daemon = await serve(database)
      const seen = { right: 0, refused: 0, wrong: 0 }
      const byId = [...ledger.keys()].sort((a, b) => (plantOf(a).id < plantOf(b).id ? -1 : 1))
      for (const n of byId) {
        const what = await reading(daemon, n)
        seen[what]++
        // After a page that cannot be read, nothing is answered until the file was opened anew.
        if (what === 'refused') await Bun.sleep(1300)
        if (seen.refused === 3) break
      }
      const answers = new Set<number | undefined>()
      for (let n = nextNumber(ledger); answers.size < 2 && n % 50 !== 0; n++) {
        answers.add((await create(daemon, n))?.status)
      }
      answers.delete(200)
      answers.delete(503)
      if (answers.size > 0) problems.push(`creates are answered ${[...answers].join(', ')}`)
      if (seen.wrong > 0) problems.push('wrong answers')
      if (seen.right === 0) problems.push('a whole page is not read')
      if (seen.refused === 0) problems.push('nothing was noticed')
      if (!daemon.alive()) problems.push('it crashed')
      await daemon.kill()
      const check = launch(database, { command: 'check' })
      if ((await check.exited) === 0) problems.push('"check" finds nothing wrong')
      return {
        tried: this.about,
        many: `plants read: ${seen.right} right, ${seen.refused} refused`,
        lost: `${seen.wrong} wrong`,
        problems,
      }
    },
  },
]
