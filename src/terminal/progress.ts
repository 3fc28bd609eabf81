import type { Output } from '../command'

const WIDTH = 30
const EVERY_MS = 200

const clock = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`

/** A bar on a terminal, with rate and time left; nothing elsewhere. `total` in the unit of `done`; null: not known. */
export function createProgress(output: Output, total: number | null) {
  const started = performance.now()
  let shown = Number.NEGATIVE_INFINITY

  const draw = (done: number, plants: number) => {
    const seconds = (performance.now() - started) / 1000
    const rate = `${Math.round(plants / Math.max(seconds, 0.001))} plants/s`
    if (total === null || total === 0) return output.write(`\r\x1b[K${plants} plants  ${rate}`)
    const part = Math.min(done / total, 1)
    const bar = '#'.repeat(Math.round(part * WIDTH)).padEnd(WIDTH, '.')
    const left = part > 0 ? clock((seconds / part) * (1 - part)) : '-:--'
    output.write(
      `\r\x1b[K[${bar}] ${Math.floor(part * 100)}%  ${plants} plants  ${rate}  ${left} left`,
    )
  }

  return {
    update(done: number, plants: number): void {
      if (!output.isTTY || performance.now() - shown < EVERY_MS) return
      shown = performance.now()
      draw(done, plants)
    },
    end(): void {
      if (output.isTTY) output.write('\r\x1b[K')
    },
  }
}
