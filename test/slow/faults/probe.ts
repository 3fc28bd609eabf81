import { connect, request } from '../../harness/http.ts'
// Measures creates beside a fault: are other clients kept waiting?
import type { Daemon } from './daemon.ts'
import { bodyOf, type Ledger, nextNumber } from './load.ts'

/** Sends creates one by one on one connection; returns their median and 99th percentile in milliseconds. */
export async function probe(daemon: Daemon, ledger: Ledger, ms: number) {
  const times: number[] = []
  const connection = await connect(daemon.port)
  const end = performance.now() + ms
  while (performance.now() < end) {
    const n = nextNumber(ledger)
    const start = performance.now()
    const answer = await connection.send(request('POST', '/plants', daemon.token, bodyOf(n)))
    times.push(performance.now() - start)
    ledger.set(n, { fate: answer?.status === 200 ? 'stored' : 'unknown', error: 0 })
    if (answer?.status !== 200) throw new Error(`the probe was answered ${answer?.status}`)
    await Bun.sleep(10)
  }
  connection.end()
  times.sort((a, b) => a - b)
  const at = (part: number) => times[Math.floor(times.length * part)] ?? 0
  return { median: at(0.5), slow: at(0.99) }
}

export type Probe = Awaited<ReturnType<typeof probe>>

/** The limits allow for a noisy machine with two cores, not for a server that waits for slow clients. */
export function compare(usual: Probe, now: Probe): string[] {
  const problems: string[] = []
  if (now.median > Math.max(25, 4 * usual.median)) problems.push('the probe became slow')
  if (now.slow > Math.max(500, 4 * usual.slow)) problems.push('the probe was kept waiting')
  return problems
}

export function shown({ median, slow }: Probe): string {
  return `${median.toFixed(1)}/${slow.toFixed(1)} ms`
}
