// A long way to a server on this machine: a proxy in Rust, built from servers/delay-proxy, that costs little CPU
// itself.
import { join } from 'node:path'
import { freePort } from '../../tools/free-port.ts'
import { run, start, stop, temporaryFolder } from './processes.ts'

const source = join(import.meta.dir, '..', 'servers', 'delay-proxy')
const executable = join(source, 'target', 'release', 'delay-proxy')

type DelayProxy = { readonly port: number; readonly stop: () => Promise<void> }

/** Throws where it cannot be built. */
export async function buildDelayProxy(): Promise<void> {
  if (!Bun.which('cargo')) throw new Error('cargo is missing')
  await run({ argv: ['cargo', 'build', '--release', '--locked'], cwd: source })
}

/** Passes TCP on to a port, with so many milliseconds of round trip. */
export async function startDelayProxy(target: number, milliseconds: number): Promise<DelayProxy> {
  const port = freePort()
  const numbers = [port, target, milliseconds * 500].map(String)
  const child = start({ argv: [executable, ...numbers] }, join(temporaryFolder(), 'log'))
  return { port, stop: () => stop(child) }
}
