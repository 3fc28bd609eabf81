// Files that cannot be served, beside those of test/engine/sqlite/open.test.ts: refused in one line, with nothing touched.
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { overwrite } from '../../harness/damage.ts'
import { inTime } from '../../harness/until.ts'
import { launch, serve } from './daemon.ts'
import type { Fault } from './fault.ts'
import { mount, sh } from './lab.ts'
import { acknowledged, type Ledger, startLoad } from './load.ts'
import { startAgain } from './verify.ts'

export const random = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length))

function fingerprint(folder: string): string {
  const hash = createHash('sha256')
  for (const name of fs.readdirSync(folder).sort()) {
    const file = join(folder, name)
    hash.update(`${name} ${fs.statSync(file).mode} `).update(fs.readFileSync(file))
  }
  return hash.digest('hex')
}

async function makeStore(folder: string): Promise<{ database: string; ledger: Ledger }> {
  const database = join(folder, 'plants.db')
  fs.mkdirSync(folder)
  const daemon = await serve(database)
  const load = startLoad(daemon)
  await acknowledged(load.ledger, 500, 10_000)
  await load.stop()
  await daemon.stop()
  return { database, ledger: load.ledger }
}

/** Harms a store; resolves once it is to be refused. */
type Harm = (database: string, folder: string) => unknown

const refusal = (name: string, about: string, harm: Harm, expected = 74): Fault => ({
  name: `file-${name}`,
  about: `${about}: one clear line, exit code ${expected}, nothing touched`,
  async run(folder, report) {
    const store = join(folder, 'store')
    const { database } = await makeStore(store)
    await harm(database, store)
    const before = fingerprint(store)
    const run = launch(database)
    const code = await inTime(() => 'its end', run.finished, 10_000)
    report.expect(code === expected, `exit code ${code}`)
    report.expect(/^plantstore: .+\n$/.test(run.err()), `says ${JSON.stringify(run.err())}`)
    report.expect(fingerprint(store) === before, 'files were touched')
  },
})

export const fileFaults: Fault[] = [
  refusal('schema-page', 'the page of the schema is overwritten, but for the header', (database) =>
    overwrite(database, 100, random(3996)),
  ),
  refusal('page', 'the file is cut within its first page', (database) =>
    fs.truncateSync(database, 1000),
  ),
  refusal(
    'read-only-mount',
    'a file system that is mounted read-only',
    async (_, store) => {
      await mount(store, '--bind', store)
      await sh('mount', '-o', 'remount,bind,ro', store)
    },
    1,
  ),
  {
    name: 'file-random-wal',
    about: 'a WAL of random bytes beside a whole database: it is no WAL, and is passed over',
    async run(folder, report) {
      const { database, ledger } = await makeStore(join(folder, 'store'))
      fs.writeFileSync(`${database}-wal`, random(1 << 20))
      await startAgain(database, ledger, report)
    },
  },
]
