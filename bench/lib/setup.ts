// Installs and builds what the benchmarks need.
import { buildPlantstore } from './plantstore.ts'
import { run } from './processes.ts'

/** Installs missing programs, each from the Debian package of its name; ends the command if it cannot. */
export async function setUp(...programs: string[]): Promise<void> {
  for (const name of ['wrk', ...programs]) {
    if (Bun.which(name)) continue
    await run({ argv: ['apt-get', 'install', '-y', name] }).catch(() => {
      console.error(`${name} is missing; install it (Debian: apt-get install ${name})`)
      process.exit(1)
    })
  }
  await buildPlantstore()
}
