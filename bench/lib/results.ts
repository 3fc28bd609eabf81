// Figures and pictures, in results/.
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

export function writeResults(name: string, results: object): void {
  const machine = {
    cpu: cpus()[0]?.model.trim(),
    cores: cpus().length,
    memory: totalmem(),
    linux: release(),
    bun: Bun.version,
    at: new Date().toISOString(),
  }
  write(`${name}.json`, `${JSON.stringify({ machine, ...results }, null, 2)}\n`)
}

export function writePicture(name: string, svg: string): void {
  write(`${name}.svg`, svg)
}
