// Servers that are loaded in turn, for some rounds: other work on the machine slows each of them, so the ratio of two in
// one round is steadier than their rates.
import { range } from './statistics.ts'
import { decimals, microseconds, milliseconds, table, thousands } from './table.ts'

/** Microseconds; `cpu` is per request, `serverCpu` that of a database server beside it. */
export type Figures = {
  readonly requests: number
  readonly perSecond: number
  readonly cpu: number
  readonly p50: number
  readonly p99: number
  readonly serverCpu?: number
}

export type Contender = {
  readonly name: string
  readonly load: (connections: number, seconds: number) => Promise<Figures>
}

export type Sample = Figures & {
  readonly name: string
  readonly connections: number
  readonly round: number
}

type Plan = {
  readonly rounds: number
  readonly seconds: number
  readonly connections: readonly number[]
}

/** Loads each contender once in a round, at each number of connections; each comes first as often as the others. */
export async function loadInTurn(
  contenders: readonly Contender[],
  { rounds, seconds, connections }: Plan,
): Promise<Sample[]> {
  const samples: Sample[] = []
  for (let round = 1; round <= rounds; round++) {
    if (rounds > 1) console.error(`round ${round} of ${rounds}`)
    const first = round % contenders.length
    for (const count of connections) {
      for (const { name, load } of [...contenders.slice(first), ...contenders.slice(0, first)]) {
        samples.push({ name, connections: count, round, ...(await load(count, seconds)) })
      }
    }
  }
  return samples
}

export type Row = {
  readonly server: string
  readonly connections: number
} & Readonly<Record<'ratio' | 'perSecond' | 'cpu' | 'serverCpu' | 'p50' | 'p99', Range>>

type Range = ReturnType<typeof range>

/** The figures of each contender, fastest first, as [least, median, most]; `ratio`: to the reference in the same round. */
export function rowsOf(samples: readonly Sample[], reference: string): Row[] {
  const groups = Map.groupBy(samples, ({ connections, name }) => `${connections} ${name}`)
  const rows = [...groups.values()].map((own) => {
    const [{ name = '', connections = 0 } = {}] = own
    const of = (value: (sample: Sample) => number) => range(own.map(value))
    const rateBeside = ({ round }: Sample) =>
      samples.find(
        (s) => s.name === reference && s.connections === connections && s.round === round,
      )?.perSecond ?? Number.NaN
    return {
      server: name,
      connections,
      ratio: of((sample) => sample.perSecond / rateBeside(sample)),
      perSecond: of((sample) => sample.perSecond),
      cpu: of((sample) => sample.cpu),
      serverCpu: of((sample) => sample.serverCpu ?? 0),
      p50: of((sample) => sample.p50),
      p99: of((sample) => sample.p99),
    }
  })
  return rows.toSorted((a, b) => b.ratio[1] - a.ratio[1])
}

/** Prints a table for each number of connections. `unit`: what is counted, such as creates. */
export function printRows(rows: readonly Row[], reference: string, unit: string): void {
  const head = ['server', `of ${reference}`, 'range', `${unit}/s`, `CPU per ${unit.slice(0, -1)}`]
  for (const [count, own] of Map.groupBy(rows, (row) => row.connections)) {
    console.log(`\n${count} ${count === 1 ? 'connection' : 'connections'}\n`)
    const cells = own.map(({ server, ratio, perSecond, cpu, serverCpu, p50, p99 }) => [
      server,
      decimals(ratio[1]),
      `${decimals(ratio[0])}-${decimals(ratio[2])}`,
      thousands(perSecond[1]),
      serverCpu[1] > 0
        ? `${microseconds(cpu[1])} + ${microseconds(serverCpu[1])}`
        : microseconds(cpu[1]),
      milliseconds(p50[1]),
      milliseconds(p99[1]),
    ])
    console.log(table([...head, 'p50', 'p99'], cells))
  }
}
