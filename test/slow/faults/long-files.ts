// Commands on files that are longer than the memory they may use, or of shapes that cost more than their size.
import {
  closeSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { strToU8, zipSync } from 'fflate'
import { root } from '../../harness/daemon.ts'
import { memoryLimit } from './cgroup.ts'
import { launch } from './daemon.ts'
import type { Fault } from './fault.ts'
import { need, sh } from './lab.ts'
import { megabytes } from './memory.ts'
import { watchMemory } from './process.ts'

const PLANTS = 1_000_000
const AT_ONCE = 10_000
const NAME = 'x'.repeat(250)

/** Writes plants to a file, some at a time; returns its length in bytes. */
function writePlants(path: string, header: string, line: (id: number) => string): number {
  const fd = openSync(path, 'w')
  writeSync(fd, header)
  for (let from = 0; from < PLANTS; from += AT_ONCE) {
    writeSync(fd, Array.from({ length: AT_ONCE }, (_, at) => line(from + at)).join(''))
  }
  closeSync(fd)
  return statSync(path).size
}

const MAX_SECONDS = 60
const MAX_TEXT_MEGABYTES = 300
const MAX_WORKBOOK_MEGABYTES = 2000
/** When an import is interrupted, and how soon it must end: the reading of most files is under way then. */
const SIGNAL_AFTER_MS = 300
const MAX_ENDING_MS = 1000

/** A sheet (OpenDocument 1.3) of one repeated cell, which has more cells than any memory. */
function writeBomb(path: string): void {
  const names = ['office', 'table', 'text'].map(
    (name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`,
  )
  const cell = `<table:table-cell table:number-columns-repeated="16384" office:value-type="float" office:value="1"><text:p>1</text:p></table:table-cell>`
  const row = `<table:table-row table:number-rows-repeated="1048576">${cell}</table:table-row>`
  const parts = {
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    'META-INF/manifest.xml': '<manifest/>',
    'styles.xml': `<office:document-styles ${names[0]}/>`,
    'content.xml': `<office:document-content ${names.join(' ')}><office:body><office:spreadsheet><table:table table:name="Plants">${row}</table:table></office:spreadsheet></office:body></office:document-content>`,
  }
  const texts = Object.entries(parts).map(([name, text]) => [name, strToU8(text)] as const)
  writeFileSync(path, zipSync(Object.fromEntries(texts), { level: 0 }))
}

/** Files of lines and values that adversaries write, beside those of large.py. */
function writeOddFiles(folder: string): void {
  const write = (name: string, ...parts: readonly string[]) => {
    const fd = openSync(join(folder, name), 'w')
    for (const part of parts) writeSync(fd, part)
    closeSync(fd)
  }
  const many = (text: string, times: number) => Array<string>(times).fill(text)
  write('open-quote.csv', 'id,name\n1,Fern\n2,"', ...many('abc,def\n'.repeat(100_000), 150))
  write('long-rows.csv', 'id,name,note\n', ...many(`1,Fern,${'x'.repeat(900_000)}\n`, 600))
  write('long-lines.ndjson', ...many(`{"id":1,"name":"a","x":["${'x'.repeat(900_000)}"]}\n`, 600))
  write('long-value.json', '[{"id":1,"name":"', ...many('x'.repeat(1_000_000), 150), '"}]')
  write('backslashes.json', '[{"id":1,"name":"', ...many('\\\\'.repeat(500_000), 20), '"}]')
  write('deep.json', ...many('{"a":'.repeat(200_000), 100))
  const openQuotes = (from: number) =>
    Array.from({ length: AT_ONCE }, (_, at) => `${from + at}\t"open\n`).join('')
  const starts = Array.from({ length: PLANTS / AT_ONCE }, (_, at) => at * AT_ONCE)
  write('quotes.tsv', 'id\tname\ttag\n', ...starts.map(openQuotes))
}

/** Imports a file: how long it took, its memory in MB, and what it says. `signalAfterMs`: when it is interrupted. */
async function importFile(folder: string, path: string, signalAfterMs: number | null) {
  const child = launch(join(folder, 'odd.db'), { command: 'import', words: [path] })
  const memory = watchMemory(child.pid)
  const from = performance.now()
  let signalled = Number.NaN
  const timer = setTimeout(
    () => {
      signalled = performance.now()
      process.kill(child.pid, signalAfterMs === null ? 'SIGKILL' : 'SIGINT')
    },
    signalAfterMs ?? MAX_SECONDS * 1000,
  )
  const code = await child.exited
  clearTimeout(timer)
  memory.stop()
  for (const name of readdirSync(folder)) if (name.startsWith('odd.db')) rmSync(join(folder, name))
  const now = performance.now()
  return {
    code,
    seconds: (now - from) / 1000,
    endingMs: now - signalled,
    megabytes: memory.peak(),
    said: child.err().trim(),
  }
}

/** Imports a file to its end, and once more up to a signal. */
async function tryOddFile(folder: string, name: string): Promise<string[]> {
  const path = join(folder, name)
  const limit = /\.(xlsx|ods)$/.test(name) ? MAX_WORKBOOK_MEGABYTES : MAX_TEXT_MEGABYTES
  const whole = await importFile(folder, path, null)
  const cut = await importFile(folder, path, SIGNAL_AFTER_MS)
  const wrong: string[] = []
  // Each is read, or refused in a sentence: no signal, and no stack.
  if (whole.code !== 0 && whole.code !== 1) wrong.push(`exit code ${whole.code}: ${whole.said}`)
  if (/\n\s+at /.test(whole.said)) wrong.push(`says ${whole.said}`)
  if (whole.seconds > MAX_SECONDS) wrong.push(`took ${whole.seconds.toFixed(1)} s`)
  if (whole.megabytes > limit) wrong.push(`took ${whole.megabytes} MB`)
  if (cut.endingMs > MAX_ENDING_MS) wrong.push(`ended ${cut.endingMs.toFixed(0)} ms after SIGINT`)
  return wrong.map((it) => `${name}: ${it}`)
}

export const longFileFaults: Fault[] = [
  {
    name: 'memory-commands',
    about: 'imports, an export, a backup and a check of a million plants in files of 270 MB',
    async run(folder, report) {
      const at = (name: string) => join(folder, name)
      const ndjson = writePlants(at('plants.ndjson'), '', (id) => `{"id":${id},"name":"${NAME}"}\n`)
      writePlants(at('plants.csv'), 'id,name\n', (id) => `${id},${NAME}\n`)
      for (const [command, ...words] of [
        ['import', at('plants.ndjson')],
        // All of them are stored already.
        ['import', at('plants.csv')],
        ['export', at('copy.ndjson')],
        ['backup', at('copy.db')],
        ['check'],
      ] as const) {
        const wrap = memoryLimit(megabytes)?.wrap ?? []
        const child = launch(at('plants.db'), { command, words, wrap })
        const memory = watchMemory(child.pid)
        const code = await child.finished
        memory.stop()
        report.expect(code === 0, `${command}: exit code ${code}, says ${child.err()}`)
        report.expect(memory.peak() <= megabytes, `${command} took ${memory.peak()} MB`)
      }
      report.expect(statSync(at('copy.ndjson')).size === ndjson, 'the export is not whole')
    },
  },
  {
    name: 'odd-files',
    about: 'imports of large and odd files, to their end and up to a signal',
    async run(folder, report) {
      await need('python3')
      await sh('python3', join(root, 'test/real-world/large.py'), folder)
      writeOddFiles(folder)
      writeBomb(join(folder, 'repeated.ods'))
      for (const name of readdirSync(folder)) {
        if (!/\.(xlsx|ods|csv|tsv|json|ndjson)$/.test(name)) continue
        report.note(...(await tryOddFile(folder, name)))
      }
    },
  },
]
