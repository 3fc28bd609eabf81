// One server beside its ceiling, a slice of time of each in turn: what else the machine does slows
// both alike, so that their ratio holds where their figures do not.
import { median, sum } from './statistics.ts'
import { allSucceeded, type Load } from './wrk.ts'

/** Latencies in microseconds; p99.9 and the maximum are those of the worst slice. */
export type Figures = {
  perSecond: number
  p50: number
  p99: number
  p999: number
  max: number
  /** Of one request; NaN where they cannot be counted. */
  instructions: number
}

export type Sample = Figures & {
  name: string
  connections: number
  ratio: number
  ceiling: Figures
}

type Run = (connections: number, seconds: number, isCounted?: boolean) => Promise<Load>
type Measure = { connections: number; slices: number; seconds?: number }

export async function measure(
  name: string,
  run: Run,
  ceiling: Run,
  { connections, slices, seconds = 1 }: Measure,
): Promise<Sample> {
  const own: Load[] = []
  const least: Load[] = []
  for (let slice = 0; slice < slices; slice++) {
    least.push(await ceiling(connections, seconds))
    own.push(await run(connections, seconds))
  }
  // Instructions are counted apart: see lib/wrk.ts.
  const counted = await run(connections, seconds, true)
  const leastCounted = await ceiling(connections, seconds, true)
  for (const load of own) allSucceeded(name, load)
  for (const load of least) allSucceeded('the ceiling', load)
  const [a, b] = [figures(own, counted), figures(least, leastCounted)]
  return { name, connections, ratio: a.perSecond / b.perSecond, ...a, ceiling: b }
}

export function figures(loads: Load[], counted: Load): Figures {
  const requests = sum(loads.map((load) => load.requests))
  return {
    perSecond: (requests / sum(loads.map((load) => load.microseconds))) * 1e6,
    p50: median(loads.map((load) => load.p50)),
    p99: median(loads.map((load) => load.p99)),
    p999: Math.max(...loads.map((load) => load.p999)),
    max: Math.max(...loads.map((load) => load.max)),
    instructions: (counted.instructions ?? Number.NaN) / counted.requests,
  }
}
