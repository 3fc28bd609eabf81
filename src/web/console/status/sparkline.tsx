const WIDTH = 120
const HEIGHT = 28

type SparklineProps = {
  readonly label: string
  /** Oldest first; null where there is no value. */
  readonly values: readonly (number | null)[]
}

// A new chart is stretched until it has this many values.
const FEWEST = 15

type Place = { readonly x: number; readonly y: number }

/** The points to draw: one list for each run without gaps. */
function runsOf(values: readonly (number | null)[]): Place[][] {
  const top = Math.max(...values.map((value) => value ?? 0), Number.MIN_VALUE)
  const step = WIDTH / (Math.max(values.length, FEWEST) - 1)
  const start = WIDTH - (values.length - 1) * step
  const runs: Place[][] = [[]]
  for (const [index, value] of values.entries()) {
    if (value === null) runs.push([])
    else {
      const y = HEIGHT - 2 - (value / top) * (HEIGHT - 5)
      runs.at(-1)?.push({ x: start + index * step, y })
    }
  }
  return runs.filter((run) => run.length > 0)
}

const lineOf = (run: readonly Place[]): string =>
  run.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`).join('')

/** A chart of the last minutes, scaled to its highest value; nothing if there is nothing to see. */
export function Sparkline({ label, values }: SparklineProps) {
  if (!values.some((value) => value !== null && value > 0)) return null
  const runs = runsOf(values)
  const areas = runs.map((run) => `${lineOf(run)}V${HEIGHT}H${run[0]?.x.toFixed(1)}Z`)
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path class="base" d={`M0 ${HEIGHT - 1}H${WIDTH}`} />
      <path class="area" d={areas.join('')} />
      {/* A single point is a line to itself; its round caps make it a dot. */}
      <path class="line" d={runs.map((run) => `${lineOf(run)}h0`).join('')} />
    </svg>
  )
}
