// A server in turn with a reference, a short time each: other work on the machine slows both, so
// their ratio is steadier than their rates.
import { median, sum } from './statistics.ts'
import { allSucceeded, type Load } from './wrk.ts'

/** Microseconds; `cpu` is per request; `p999` and `max` are those of the worst slice. */
export type Figures = {
  perSecond: number
  cpu: number
  p50: number
  p99: number
  p999: number
  max: number
}

export type Sample = Figures & {
  name: string
  connections: number
  /** Its requests per second / those of the reference. */
  ratio: number
  reference: Figures
}

type Run = (connections: number, seconds: number) => Promise<Load>
type Slices = { connections: number; slices: number; seconds?: number }

export async function measure(
  name: string,
  run: Run,
  runReference: Run,
  { connections, slices, seconds = 1 }: Slices,
): Promise<Sample> {
  const own: Load[] = []
  const others: Load[] = []
  for (let slice = 0; slice < slices; slice++) {
    others.push(await runReference(connections, seconds))
    own.push(await run(connections, seconds))
  }
  for (const load of others) allSucceeded(load, 'the reference')
  for (const load of own) allSucceeded(load)
  const [figures, reference] = [summarize(own), summarize(others)]
  return {
    ...figures,
    name,
    connections,
    ratio: figures.perSecond / reference.perSecond,
    reference,
  }
}

function summarize(loads: Load[]): Figures {
  const requests = sum(loads.map((load) => load.requests))
  return {
    perSecond: (requests / sum(loads.map((load) => load.microseconds))) * 1e6,
    cpu: sum(loads.map((load) => load.cpu * load.requests)) / requests,
    p50: median(loads.map((load) => load.p50)),
    p99: median(loads.map((load) => load.p99)),
    p999: Math.max(...loads.map((load) => load.p999)),
    max: Math.max(...loads.map((load) => load.max)),
  }
}
