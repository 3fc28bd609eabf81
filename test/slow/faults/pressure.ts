import { join } from 'node:path'
import type { Answer } from '../../harness/http.ts'
import { type MemoryLimit, memoryLimit } from './cgroup.ts'
import { type Daemon, serve } from './daemon.ts'
import { count, type Outcome } from './fault.ts'
import { need } from './lab.ts'
import { errorOf, type Ledger, recovers } from './load.ts'
import { watchMemory } from './process.ts'
import { faultsOf, verify } from './verify.ts'

export const megabytes = 128

export interface Answers {
  many: string
  problems: string[]
}

/** Runs a daemon within the limit, lets it be pressed, and sees that it lives and still works. */
export async function pressed(
  folder: string,
  about: string,
  press: (daemon: Daemon, ledger: Ledger) => Promise<Answers>,
  start: { wrap?: string[]; megabytes?: number } = {},
): Promise<Outcome> {
  await need()
  const database = join(folder, 'plants.db')
  const most = start.megabytes ?? megabytes
  const limit: MemoryLimit | undefined = memoryLimit(most)
  const wrap = [...(start.wrap ?? []), ...(limit?.wrap ?? [])]
  const ledger: Ledger = new Map()
  const daemon = await serve(database, { wrap })
  const memory = watchMemory(daemon.pid)
  const { many, problems } = await press(daemon, ledger)
  if (!daemon.alive()) problems.push(`it ended with exit code ${await daemon.exited}`)
  if (limit !== undefined && limit.kills() > 0) problems.push('killed for want of memory')
  if (limit === undefined && memory.peak() > most) problems.push('too much memory')
  if (!(await recovers(daemon, ledger, 10_000))) problems.push('no creates afterwards')
  memory.stop()
  if ((await daemon.stop()) !== 0) problems.push('a bad exit code')
  problems.push(...faultsOf(verify(database, ledger)))
  const within = limit === undefined ? 'no control group here' : `limit of ${most} MB`
  return { tried: about, many, lost: `own memory at most ${memory.peak()} MB, ${within}`, problems }
}

function tallyOf(answers: (Answer | undefined)[]): Map<number, number> {
  const seen = new Map<number, number>()
  for (const answer of answers) {
    const number = answer === undefined ? 0 : answer.status === 200 ? 200 : errorOf(answer)
    seen.set(number, (seen.get(number) ?? 0) + 1)
  }
  return seen
}

export function judge(what: string, answers: (Answer | undefined)[], right: number[]): Answers {
  const seen = tallyOf(answers)
  const wrong = [...seen.keys()].filter((number) => !right.includes(number))
  const problems = wrong.length > 0 ? [`answered ${wrong.join(', ')}`] : []
  const words = [...seen].map(([number, times]) => `${number} ${times} times`)
  return { many: `${count(answers.length, what)}: ${words.join(', ')}`, problems }
}
