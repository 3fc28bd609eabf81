import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Skipped } from './fault.ts'

type Undo = () => unknown

const undos: Undo[] = []

/** Registers what must be undone, last first, however the fault ends. Returns it, to undo sooner. */
export function after(undo: Undo): () => Promise<void> {
  undos.push(undo)
  return async () => {
    const at = undos.indexOf(undo)
    if (at < 0) return
    undos.splice(at, 1)
    await undo()
  }
}

export async function undoAll(): Promise<void> {
  for (let undo = undos.pop(); undo !== undefined; undo = undos.pop()) {
    try {
      await undo()
    } catch (error) {
      console.error(`while cleaning up: ${error}`)
    }
  }
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plantstore-faults-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export async function sh(...command: string[]): Promise<string> {
  const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`${command.join(' ')}: exit code ${code}: ${err.trim()}`)
  return out.trim()
}

const packages: Record<string, string> = {
  strace: 'strace',
  gcc: 'gcc',
  prlimit: 'util-linux',
  setpriv: 'util-linux',
  losetup: 'mount',
  'mkfs.ext4': 'e2fsprogs',
  'mkfs.xfs': 'xfsprogs',
  xfs_io: 'xfsprogs',
  nbdkit: 'nbdkit',
  nbdfuse: 'libnbd-bin',
  fusermount3: 'fuse3',
  nginx: 'nginx-light',
}

let updated = false

export async function need(...tools: string[]): Promise<void> {
  if (process.platform !== 'linux') throw new Skipped('needs Linux')
  if (process.getuid?.() !== 0) throw new Skipped('needs root')
  const missing = tools.filter((tool) => Bun.which(tool) === null)
  if (missing.length === 0) return
  if (Bun.which('apt-get') === null) throw new Skipped(`needs ${missing.join(', ')}`)
  const wanted = new Set(missing.map((tool) => packages[tool] ?? tool))
  if (wanted.has('gcc')) wanted.add('libc6-dev')
  try {
    if (!updated) await sh('apt-get', 'update', '-qq')
    updated = true
    const env = ['env', 'DEBIAN_FRONTEND=noninteractive']
    await sh(...env, 'apt-get', 'install', '-qq', '--no-install-recommends', ...wanted)
  } catch (error) {
    throw new Skipped(`cannot install ${[...wanted].join(', ')}: ${error}`)
  }
}

const here = import.meta.dir

/** Builds a shared object for LD_PRELOAD from a C file of this folder. */
export async function preload(folder: string, name: string): Promise<string> {
  await need('gcc')
  const object = join(folder, `${name}.so`)
  await sh('gcc', '-O2', '-Wall', '-shared', '-fPIC', '-o', object, join(here, `${name}.c`), '-ldl')
  return object
}

export async function attachLoop(file: string): Promise<{ device: string; detach: () => unknown }> {
  let device: string
  try {
    device = await sh('losetup', '--find', '--show', file)
  } catch (error) {
    throw new Skipped(`no loop device here: ${error}`)
  }
  return { device, detach: after(() => sh('losetup', '--detach', device)) }
}

/** Mounts, and unmounts lazily in the end, when a process that died may still hold a file. */
export async function mount(at: string, ...options: string[]): Promise<() => Promise<void>> {
  await sh('mkdir', '-p', at)
  try {
    await sh('mount', ...options, at)
  } catch (error) {
    throw new Skipped(`cannot mount here: ${error}`)
  }
  return after(async () => {
    for (let i = 0; i < 50; i++) {
      try {
        return await sh('umount', at)
      } catch {
        await Bun.sleep(100)
      }
    }
    return sh('umount', '--lazy', at)
  })
}
