import { join } from 'node:path'
import { once, request } from '../../harness/http.ts'
import { serve } from './daemon.ts'
import { comesTrue, type Fault, type Report } from './fault.ts'
import { afflict, syncs } from './io-errors.ts'
import { need } from './lab.ts'

const STALL = { files: 'all', inject: `${syncs}:delay_enter=3000000` } as const

const create = (token: string, id: number) =>
  request('POST', '/plants', token, `{"id":${id},"name":"Rose"}`)

/** While one create waits in a stalled fsync, reads and health checks are answered. */
async function readsGoOn(folder: string, report: Report): Promise<void> {
  await need('strace')
  const database = join(folder, 'plants.db')
  const daemon = await serve(database)
  const { port, token } = daemon
  await once(port, create(token, 1))
  const heal = await afflict(daemon, database, STALL)
  await comesTrue(5000, async () => {
    const probe = once(port, create(token, Math.floor(Math.random() * 1e9)))
    return (await Promise.race([probe, Bun.sleep(1000)])) === undefined
  })
  let isCreated = false
  const created = once(port, create(token, 2)).finally(() => {
    isCreated = true
  })
  for (const path of ['/plants/1', '/plants?limit=10', '/metrics', '/health']) {
    const answer = await once(port, request('GET', path, token))
    report.expect(answer?.status === 200, `${path}: ${answer?.status}`)
    report.expect(!isCreated, `${path} was answered after the create that the disk kept waiting`)
  }
  report.expect((await created)?.status === 200, 'the create was not acknowledged')
  await heal()
  await daemon.kill()
}

export const stallFaults: Fault[] = [
  {
    name: 'stall-reads',
    about: 'each fsync takes 3 s, and reads go on meanwhile',
    run: readsGoOn,
  },
]
