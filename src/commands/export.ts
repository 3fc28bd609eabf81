import { closeSync, openSync, realpathSync, statSync } from 'node:fs'
import type { Command } from '../command'
import { openStore } from '../engine/open-store'
import { command } from '../engine/role'
import { BESIDE } from '../engine/sqlite/backup'
import { explainWriting, UsageError } from '../errors'
import { produceFile } from '../files/replace-file'
import { writeAll } from '../files/write-all'
import { formatOf, header, writePlant } from '../formats/format'
import type { Format } from '../options'
import type { NewPlant } from '../plant'
import { createProgress } from '../terminal/progress'

/** Writes plants until `put`, which takes the text of a part, says that nobody reads it any more. */
async function write(
  put: (text: string) => boolean,
  format: Format,
  parts: AsyncIterable<readonly NewPlant[]>,
  onPlants: (plants: number) => void,
): Promise<void> {
  if (!put(header[format])) return
  for await (const part of parts) {
    if (!put(part.map(writePlant[format]).join(''))) return
    onPlants(part.length)
  }
}

/** Has a file written by what is given its `put`. */
async function writeFile(
  path: string,
  produce: (put: (text: string) => boolean) => Promise<void>,
): Promise<void> {
  const fd = openSync(path, 'w')
  try {
    await produce((text) => {
      writeAll(fd, text)
      return true
    })
  } finally {
    closeSync(fd)
  }
}

/** Whether a path has a file to be replaced by a whole one; false for a device or a pipe, which is written to. */
function isReplaced(path: string, database: string): boolean {
  const there = statSync(path, { throwIfNoEntry: false })
  if (!there) return true
  if (there.isDirectory()) throw new UsageError(`${path} is a folder: name a file`)
  const real = realpathSync(database)
  for (const suffix of ['', ...BESIDE]) {
    const own = statSync(real + suffix, { throwIfNoEntry: false })
    if (own?.ino === there.ino && own.dev === there.dev) {
      throw new UsageError(`${path} is the database itself: name another file`)
    }
  }
  return there.isFile()
}

export const exportPlants: Command = {
  name: 'export',
  usage: '[FILE|-]',
  summary: 'write all plants to a file, or to standard output',
  help: `Writes NDJSON or CSV, by the file's name or --format; NDJSON to standard output if nothing else is said. The plants
are written as they all were at one moment, with exact ids; "plantstore import" makes the same store of them.
The file has its name only once it is whole, and replaces one that is there. Works while the daemon runs.`,
  options: ['database', 'format'],
  async run({ config, args: [name, ...rest], out, err }) {
    const path = name === '-' ? undefined : name
    if (rest.length > 0) throw new UsageError('name one file')
    const format = config.format ?? (path === undefined ? 'ndjson' : formatOf(path))
    if (!format) throw new UsageError(`say which --format ${path} is to have: ndjson or csv`)
    const store = await openStore(config.database, command({ makesDatabase: false }))
    const progress = createProgress(err, null)
    let plants = 0
    const onPlants = (more: number) => {
      plants += more
      progress.update(0, plants)
    }
    const produce = (put: (text: string) => boolean) =>
      write(put, format, store.snapshot(), onPlants)
    try {
      if (path === undefined) await produce((text) => out.write(text))
      else if (isReplaced(path, config.database))
        await produceFile(path, (temporary) => writeFile(temporary, produce))
      else await writeFile(path, produce)
    } catch (error) {
      throw explainWriting(error, path ?? 'standard output')
    } finally {
      progress.end()
      await store.close()
    }
    err.write(`exported ${plants} plants\n`)
    return 0
  },
}
