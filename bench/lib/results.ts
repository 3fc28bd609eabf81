// Writes figures into results/.
import { renameSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'

// Four digits are more than the noise leaves.
const round = (_: string, value: unknown) =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value

/** Writes JSON with one line per row, for readable diffs; its figures are [least, median, most]. */
export function writeResults(name: string, { rows, ...rest }: { rows: readonly object[] }): void {
  const [{ model = '' } = {}] = cpus()
  const machine = { cpu: model.trim(), cores: cpus().length, bun: Bun.version }
  const head = { machine: { ...machine, at: new Date().toISOString() }, ...rest }
  const lines = rows.map((row) => `    ${JSON.stringify(row, round)}`).join(',\n')
  const file = join(import.meta.dir, '..', 'results', `${name}.json`)
  writeFileSync(
    `${file}.tmp`,
    `${JSON.stringify(head, round, 2).slice(0, -2)},\n  "rows": [\n${lines}\n  ]\n}\n`,
  )
  renameSync(`${file}.tmp`, file)
}
