// A minimal Debian in a folder: as a chroot, and started with its own systemd in namespaces.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run, runWell, startProcess } from '../../harness/process'
import * as waiting from '../../harness/until'
import { debianMirror, sh } from './lab'

/** Makes a minimal Debian with systemd at `path`. Takes half a minute. */
export async function makeDebian(path: string): Promise<void> {
  const flags = ['--variant=minbase', '--include=systemd,systemd-sysv,dbus,adduser,sudo,openssl']
  await sh(['debootstrap', ...flags, 'bookworm', path, debianMirror()])
}

/** Runs commands in a root folder, by chroot; each returns what it prints, or throws if it fails. */
export const chroot =
  (root: string) =>
  (...command: string[]): Promise<string> => {
    const mounts = 'mount -t proc proc "$0/proc" && mount --bind /dev "$0/dev"'
    const enter = `${mounts} && exec chroot "$0" "$@"`
    return sh(['unshare', '--mount', 'sh', '-c', enter, root, ...command])
  }

/** The mount point of control groups, version 2; undefined if there is none. */
const controlGroups = (): string | undefined =>
  /^\S+ (\S+) cgroup2 /m.exec(readFileSync('/proc/self/mounts', 'utf8'))?.[1]

const kinds = ['pid', 'mount', 'uts', 'ipc', 'cgroup', 'net']
const namespaces = ['unshare', '--fork', '--kill-child', ...kinds.map((kind) => `--${kind}`)]

/** True if this machine allows namespaces and control groups of version 2. */
export async function canBoot(): Promise<boolean> {
  const { code } = await run([...namespaces, 'true'])
  return code === 0 && controlGroups() !== undefined
}

// Runs as the first process of new namespaces; $1 is the root folder.
const start = `set -e
mount --make-rprivate /
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs dev
for name in null zero full random urandom tty; do
  touch dev/$name
  mount --bind /dev/$name dev/$name
done
mkdir -p dev/shm dev/pts old
mount -t tmpfs tmpfs dev/shm
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
mount -t cgroup2 cgroup2 sys/fs/cgroup
pivot_root . old
umount --lazy old
exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin /sbin/init --unit=multi-user.target
`

/**
 * Starts the systemd of a root folder in namespaces of its own, network included.
 * `await using machine = await boot(root)` ends all its processes at the end of the block.
 */
export async function boot(root: string) {
  const group = join(String(controlGroups()), `plantstore-test-${process.pid}`)
  mkdirSync(group)
  const enter = 'echo $$ > "$0/cgroup.procs" && exec "$@"'
  const child = startProcess(
    ['sh', '-c', enter, group, ...namespaces, 'sh', '-c', start, 'sh', root],
    { env: process.env },
  )

  const init = () => {
    const file = `/proc/${child.pid}/task/${child.pid}/children`
    return existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
  }
  const enterIt = (...command: string[]) => ['nsenter', '--target', init(), '--all', ...command]
  const inside = (...command: string[]) => run(enterIt(...command))

  /** Waits until `holds`, at most a minute; if that takes longer, the error has the journal. */
  const until = (what: string, holds: () => Promise<boolean>) =>
    waiting.until(what, holds, 60_000).catch(async (error) => {
      const journal = await inside('journalctl', '-b', '--no-pager', '-p', 'notice')
      throw new Error(`${error.message}: ${child.err()}${journal.out}${journal.err}`)
    })

  async function end() {
    writeFileSync(join(group, 'cgroup.kill'), '1')
    await child.exited
    await until('all its processes ended', async () =>
      readFileSync(join(group, 'cgroup.events'), 'utf8').includes('populated 0'),
    )
    await run(['find', group, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', '+'])
  }

  try {
    await until('systemd runs', async () => {
      if (!child.alive()) throw new Error(`cannot start a machine here: ${child.err()}`)
      if (init() === '') return false
      return (await inside('systemctl', 'is-system-running')).out === 'running\n'
    })
  } catch (error) {
    await end()
    throw error
  }

  return {
    until,
    /** Runs a command in it; returns what it prints. Throws if it fails. */
    async run(...command: string[]): Promise<string> {
      return (await runWell(enterIt(...command))).out.trim()
    },
    /** A property of a unit, as systemctl shows it. */
    async property(name: string, unit = 'plantstore'): Promise<string> {
      return (await inside('systemctl', 'show', unit, '-p', name, '--value')).out.trim()
    },
    /** Sends a request from inside by curl; resolves to status and body. */
    async request(token: string, path: string, json?: string, port = 3000): Promise<string> {
      const headers = [
        '-H',
        `Authorization: Bearer ${token}`,
        '-H',
        'Content-Type: application/json',
      ]
      const flags = ['-sS', '-w', ' %{http_code}', ...headers, ...(json ? ['-d', json] : [])]
      const url = `http://127.0.0.1:${port}${path}`
      const { out } = await run(['nsenter', '--target', init(), '--net', 'curl', ...flags, url])
      return out.trim()
    },
    [Symbol.asyncDispose]: end,
  }
}
