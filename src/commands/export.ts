import { type Format, UsageError } from '../config'
import { openSqlite } from '../engine/sqlite'
import type { NewPlant } from '../plant'
import type { Command } from './command'
import { formatOf, header, writePlant } from './formats'
import { produceFile } from './produce'
import { createProgress } from './progress'

type Sink = { write(text: string): unknown; flush(): unknown; end(): unknown }

async function write(
  sink: Sink,
  format: Format,
  parts: AsyncIterable<NewPlant[]>,
  onPlants: (plants: number) => void,
): Promise<void> {
  sink.write(header[format])
  for await (const part of parts) {
    sink.write(part.map(writePlant[format]).join(''))
    // Waits for whoever reads, so that memory stays bounded.
    await sink.flush()
    onPlants(part.length)
  }
  await sink.end()
}

export const exportPlants: Command = {
  name: 'export',
  usage: '[FILE]',
  summary: 'write all plants to a file, or to standard output',
  help: `Writes NDJSON or CSV, by the file's name or --format; NDJSON to standard output if nothing else is said. The plants
are written as they all were at one moment, with exact ids; "plantstore import" makes the same store of them.
The file has its name only once it is whole. Works while the daemon runs.`,
  options: ['database', 'format'],
  async run({ config, args: [path, ...rest], err }) {
    if (rest.length > 0) throw new UsageError('name one file')
    const format = config.format ?? (path === undefined ? 'ndjson' : formatOf(path))
    if (!format) throw new UsageError(`say which --format ${path} is to have: ndjson or csv`)
    const store = openSqlite(config.database, { exclusive: false, create: false, log: () => {} })
    const progress = createProgress(err, null)
    let plants = 0
    const onPlants = (more: number) => {
      plants += more
      progress.update(0, plants)
    }
    try {
      if (path === undefined) {
        await write(Bun.stdout.writer(), format, store.snapshot(), onPlants)
      } else {
        await produceFile(path, (temporary) =>
          write(Bun.file(temporary).writer(), format, store.snapshot(), onPlants),
        )
      }
    } finally {
      progress.end()
      await store.close()
    }
    err.write(`exported ${plants} plants\n`)
    return 0
  },
}
