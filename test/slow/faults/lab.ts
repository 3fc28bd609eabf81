// Resources of the machine for fault tests: tools, loop devices, mounts; and their removal.
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import * as harness from '../../harness/folder.ts'
import { runWell, startProcess } from '../../harness/process.ts'
import { comesTrue, Skipped } from './fault.ts'

type Undo = () => unknown

const undos: Undo[] = []

/** Registers a clean-up for the end of the fault; the last runs first. Returns a function that runs it sooner. */
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

/** A folder that is removed at the end of the fault. */
export function temporaryFolder(): string {
  const folder = harness.temporaryFolder()
  after(folder[Symbol.dispose])
  return folder.path
}

/** Runs a command; returns what it prints, and throws if it fails. */
export const sh = async (...command: string[]): Promise<string> =>
  (await runWell(command)).out.trim()

/** Starts a program that runs until the end of the fault. */
export function startServer(...command: string[]) {
  const child = startProcess(command)
  after(child.kill)
  return child
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
  go: 'golang-go',
  nginx: 'nginx-light',
  'dpkg-deb': 'dpkg',
  bsdtar: 'libarchive-tools',
  'ssh-keygen': 'openssh-client',
  'systemd-analyze': 'systemd',
  unshare: 'util-linux',
  WebKitWebDriver: 'webkit2gtk-driver',
  Xvfb: 'xvfb',
  nsenter: 'util-linux',
  pip: 'python3-pip',
  etcd: 'etcd-server',
  ip: 'iproute2',
  'qemu-aarch64-static': 'qemu-user-static',
  'qemu-x86_64-static': 'qemu-user-static',
  '/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1': 'libc6-arm64-cross',
}

let updated = false

/** Installs the tools that are missing; skips the fault if it cannot. */
export async function need(...tools: string[]): Promise<void> {
  if (process.platform !== 'linux') throw new Skipped('needs Linux')
  if (process.getuid?.() !== 0) throw new Skipped('needs root')
  const missing = tools.filter((tool) => Bun.which(tool) === null)
  if (missing.length === 0) return
  if (Bun.which('apt-get') === null) throw new Skipped(`needs ${missing.join(', ')}`)
  const wanted = new Set(missing.map((tool) => packages[tool] ?? tool))
  if (wanted.has('gcc')) wanted.add('libc6-dev')
  try {
    // Suites that run side by side take turns.
    const apt = ['env', 'DEBIAN_FRONTEND=noninteractive', 'flock', tmpdir(), 'apt-get', '-qq']
    if (!updated) await sh(...apt, 'update')
    updated = true
    await sh(...apt, 'install', '--no-install-recommends', ...wanted)
  } catch (error) {
    throw new Skipped(`cannot install ${[...wanted].join(', ')}: ${error}`)
  }
}

const GO = `golang.org/toolchain@v0.0.1-go1.24.4.linux-${process.arch === 'x64' ? 'amd64' : 'arm64'}`

/** The command of a Go that gets the version a module asks for. That of Debian 12 cannot, so it gets one that can. */
export async function needGo(): Promise<string[]> {
  await need('go')
  const version = (await sh('go', 'env', 'GOVERSION')).replace('go', '')
  let go = 'go'
  if (Bun.semver.order(version, '1.21.0') < 0) {
    const { Dir } = JSON.parse(await sh('go', 'mod', 'download', '-json', GO))
    await sh('chmod', '-R', 'a+x', join(Dir, 'bin'), join(Dir, 'pkg/tool'))
    go = join(Dir, 'bin/go')
  }
  return ['env', 'GOTOOLCHAIN=auto', go]
}

const here = import.meta.dir

/** Compiles a C file of this folder to a shared object for LD_PRELOAD. */
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

/**
 * Resolves once no namespace has the file system of a device mounted. One that another process has made meanwhile keeps
 * it, and the next mount would be the same.
 */
export async function released(device: string): Promise<void> {
  const isHeld = (type: string) => existsSync(`/sys/fs/${type}/${basename(device)}`)
  await comesTrue(10_000, () => !isHeld('ext4') && !isHeld('xfs'))
}

/** Mounts; unmounts at the end of the fault, lazily if a dying process still holds a file. */
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
