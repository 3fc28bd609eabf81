import { join } from 'node:path'
import { connect, once, request } from '../../harness/http.ts'
import { serve } from './daemon.ts'
import { comesTrue, type Fault, type Outcome } from './fault.ts'
import { syncs } from './injections.ts'
import { afflict } from './io-errors.ts'
import { need } from './lab.ts'

const STALL = { where: 'all', inject: `${syncs}:delay_enter=3000000` } as const

const create = (token: string, id: number) =>
  request('POST', '/plants', token, `{"id":${id},"name":"Rose"}`)

/** While one create waits in a stalled fsync, reads and health checks are answered. */
async function readsGoOn(folder: string, about: string): Promise<Outcome> {
  await need('strace')
  const database = join(folder, 'plants.db')
  const daemon = await serve(database)
  const { port, token } = daemon
  const problems: string[] = []
  await once(port, create(token, 1))
  const heal = await afflict(daemon, database, STALL)
  await comesTrue(5000, async () => {
    const probe = once(port, create(token, Math.floor(Math.random() * 1e9)))
    return (await Promise.race([probe, Bun.sleep(1000)])) === undefined
  })

  const writer = await connect(port)
  let isCreated = false
  const created = writer.send(create(token, 2)).then((answer) => {
    isCreated = true
    return answer
  })
  let answered = 0
  for (const path of ['/plants/1', '/plants?limit=10', '/metrics', '/health', '/plants/1']) {
    const answer = await once(port, request('GET', path, token))
    if (answer?.status !== 200) problems.push(`${path}: ${answer?.status}`)
    if (isCreated) problems.push(`${path} was answered after the create that the disk kept waiting`)
    answered++
  }
  if ((await created)?.status !== 200) problems.push('the create was not acknowledged')
  await heal()
  await daemon.kill()
  return { tried: about, many: `${answered} reads`, lost: '0 lost', problems }
}

/** While the queue is full, creates are refused with 50301 and the daemon is healthy. */
async function staysHealthy(folder: string, about: string): Promise<Outcome> {
  await need('strace')
  const database = join(folder, 'plants.db')
  const daemon = await serve(database)
  const { port, token } = daemon
  const problems: string[] = []
  const heal = await afflict(daemon, database, { ...STALL, inject: `${syncs}:delay_enter=500000` })
  // Short ones fill what room the long ones leave.
  const names = [900_000, 100_000, 10_000, 1000, 10, 10].map((length) => 'x'.repeat(length))
  let id = 0
  let refused = 0
  let isOver = false
  const clients = Array.from({ length: 120 }, async (_, client) => {
    while (!isOver) {
      const body = `{"id":${id++},"name":"${names[client % names.length]}"}`
      const answer = await once(port, request('POST', '/plants', token, body))
      if (answer?.status === 503) refused++
    }
  })
  if (!(await comesTrue(10_000, () => refused > 0))) problems.push('nothing was refused')
  const healths: (number | undefined)[] = []
  for (let n = 0; n < 20; n++) {
    healths.push((await once(port, request('GET', '/health', token)))?.status)
    await Bun.sleep(50)
  }
  isOver = true
  await heal()
  await Promise.all(clients)
  const bad = healths.filter((status) => status !== 200)
  if (bad.length > 0) problems.push(`health said ${bad.join(', ')}`)
  await daemon.kill()
  return { tried: about, many: `${refused} refused, 20 health checks`, lost: '0 lost', problems }
}

export const stallFaults: Fault[] = [
  {
    name: 'stall-reads',
    about: 'each fsync takes 3 s, and reads go on meanwhile',
    run(folder) {
      return readsGoOn(folder, this.about)
    },
  },
  {
    name: 'overload-health',
    about: 'the write queue is full, and the daemon is healthy',
    run(folder) {
      return staysHealthy(folder, this.about)
    },
  },
]
