const WIDTH = 120
const HEIGHT = 28

type SparklineProps = {
  readonly label: string
  /** From the oldest to the newest; null where nothing is known. */
  readonly values: readonly (number | null)[]
  /** How many values fill the width. */
  readonly most: number
}

/** The path of the values: a line for each run of those that are known. */
function pathOf(values: readonly (number | null)[], most: number, top: number): string {
  const step = WIDTH / (most - 1)
  const start = WIDTH - (values.length - 1) * step
  let isDown = false
  const parts = values.map((value, index) => {
    if (value === null) {
      isDown = false
      return ''
    }
    const x = (start + index * step).toFixed(1)
    const y = (HEIGHT - 2 - (value / top) * (HEIGHT - 4)).toFixed(1)
    const command = isDown ? 'L' : 'M'
    isDown = true
    // A point alone is drawn as a line to itself.
    return `${command}${x} ${y}${command === 'M' ? `h0` : ''}`
  })
  return parts.join('')
}

/** A chart of the last minutes, as high as its highest value. */
export function Sparkline({ label, values, most }: SparklineProps) {
  const top = Math.max(...values.map((value) => value ?? 0), Number.MIN_VALUE)
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      <path class="base" d={`M0 ${HEIGHT - 1}H${WIDTH}`} />
      <path class="line" d={pathOf(values, most, top)} />
    </svg>
  )
}
