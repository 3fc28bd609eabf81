// Writes figures and charts into results/.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'

const folder = join(import.meta.dir, '..', 'results')

function write(name: string, text: string): void {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, name)
  writeFileSync(`${file}.tmp`, text)
  renameSync(`${file}.tmp`, file)
}

// Four digits are more than the noise leaves.
const round = (value: unknown) =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value

const oneLine = (value: unknown) => JSON.stringify(value, (_, inner) => round(inner))

/** JSON with one line per field and per row of a table, for readable diffs. */
function format(results: object): string {
  const fields = Object.entries(results).map(([key, value]) => {
    const isTable = Array.isArray(value) && typeof value[0] === 'object'
    const rows = isTable ? value.map((row) => `    ${oneLine(row)}`).join(',\n') : ''
    return `  "${key}": ${isTable ? `[\n${rows}\n  ]` : oneLine(value)}`
  })
  return `{\n${fields.join(',\n')}\n}\n`
}

export function writeResults(name: string, results: object): void {
  const machine = {
    cpu: cpus()[0]?.model.trim(),
    cores: cpus().length,
    memory: totalmem(),
    linux: release(),
    bun: Bun.version,
    at: new Date().toISOString(),
  }
  write(`${name}.json`, format({ machine, ...results }))
}

export function writePicture(name: string, svg: string): void {
  write(`${name}.svg`, svg)
}
