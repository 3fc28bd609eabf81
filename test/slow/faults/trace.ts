import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { control, type Program, plantstore, serve } from './daemon.ts'
import type { Fault } from './fault.ts'
import { need } from './lab.ts'
import { acknowledged, startLoad, storedIn } from './load.ts'

// Commits of a few are made in the serving thread, of many in the other; then the next is under way when the last is
// answered.
const FEW = 12
const MANY = 200

const calls = 'fsync,fdatasync,pwrite64,recvfrom,recvmsg,read,sendto,sendmsg,write,writev'

interface Call {
  text: string
  /** Lines of the trace at which it was entered and at which it had returned. */
  began: number
  ended: number
}

/** The calls in the order in which they returned, those in two halves joined. */
function* callsOf(trace: string): Generator<Call> {
  const open = new Map<string, { text: string; began: number }>()
  for (const [at, line] of trace.split('\n').entries()) {
    const [, thread, text] = /^(\d+) +(.*)$/.exec(line) ?? []
    if (thread === undefined || text === undefined) continue
    if (text.endsWith(' <unfinished ...>')) {
      open.set(thread, { text: text.slice(0, -' <unfinished ...>'.length), began: at })
      continue
    }
    const half = open.get(thread)
    const [, rest] = /^<\.\.\. \w+ resumed>(.*)$/.exec(text) ?? []
    open.delete(thread)
    if (rest === undefined) yield { text, began: at, ended: at }
    else if (half !== undefined) yield { text: half.text + rest, began: half.began, ended: at }
  }
}

/**
 * Counts the 200s and those of them without a write to the WAL after their request was read, and a
 * sync begun after that write and done before the answer was sent. strace stops a thread at each end
 * of a call until it has noted it, so the order in the trace is the order of cause and effect.
 */
function unsynced(trace: string): { answers: number; early: number; syncs: number } {
  const requests = new Map<string, number>()
  let durable = -1
  const found = { answers: 0, early: 0, syncs: 0 }
  let writes: Call[] = []
  for (const call of callsOf(trace)) {
    const socket = /^\w+\(\d+<socket:\[(\d+)\]>/.exec(call.text)?.[1]
    if (/^pwrite64\(\d+<[^>]*-wal>/.test(call.text)) writes.push(call)
    else if (/^f(data)?sync\(\d+<[^>]*-wal>\) += 0/.test(call.text)) {
      found.syncs++
      const synced = writes.filter((write) => write.ended < call.began)
      durable = Math.max(durable, ...synced.map((write) => write.began))
      writes = writes.filter((write) => write.ended >= call.began)
    } else if (socket !== undefined && /^re.*"POST \/plants /.test(call.text)) {
      requests.set(socket, call.ended)
    } else if (socket !== undefined && /^[sw].*"HTTP\/1\.1 200 /.test(call.text)) {
      const asked = requests.get(socket)
      requests.delete(socket)
      if (asked === undefined) continue
      found.answers++
      if (durable <= asked) found.early++
    }
  }
  return found
}

async function traced(folder: string, program: Program, clients: number) {
  const log = join(folder, `trace-${Bun.nanoseconds()}.log`)
  const strace = ['strace', '-D', '-f', '-y', '--seccomp-bpf', '-s', '400', '-o', log]
  const daemon = await serve(join(folder, `${Bun.nanoseconds()}.db`), {
    program,
    wrap: [...strace, '-e', `trace=${calls}`],
  })
  const load = startLoad(daemon, { clients })
  await acknowledged(load.ledger, 1000, 10_000)
  await load.stop()
  await daemon.stop()
  return { ...unsynced(readFileSync(log, 'utf8')), acknowledged: storedIn(load.ledger) }
}

export const traceFaults: Fault[] = [
  {
    name: 'fsync-before-answer',
    about: 'a trace of the system calls: no 200 before an fsync of the WAL',
    async run(folder, report) {
      await need('strace')
      const few = await traced(folder, plantstore, FEW)
      const many = await traced(folder, plantstore, MANY)
      const lax = await traced(folder, control('--synchronous', 'normal'), FEW)
      for (const { answers, acknowledged, early } of [few, many]) {
        report.expect(early === 0, `${early} answered before the fsync`)
        report.expect(
          answers === acknowledged,
          `${answers} answers in the trace, ${acknowledged} at the clients`,
        )
        report.expect(answers >= 100, 'too few answers to tell')
      }
      report.expect(many.answers >= many.syncs * FEW, 'too few creates shared a commit to tell')
      report.expect(lax.early > 0, 'the control with synchronous=NORMAL was not caught')
    },
  },
]
