// A case of docs/hosting.md, and what every case needs: its files and commands, and a machine of its own.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '../../harness/daemon.ts'
import { after, sh } from '../faults/lab.ts'

export type Case = {
  readonly name: string
  /** The subject of the test, as a sentence. */
  readonly about: string
  /** Installs what it needs, on this machine. Throws a `Skipped` where that cannot be. */
  install(): Promise<void>
  /** Runs in namespaces of its own, where it may write to /etc, /run and /var. Throws at the first problem. */
  run(): Promise<void>
}

/** The host name of the page. */
export const HOST = 'plants.example.org'

/** The database of the page. */
export const DATABASE = '/var/lib/plantstore/plants.db'

export const page = readFileSync(join(root, 'docs/hosting.md'), 'utf8')

function blocks(heading: string): string[] {
  const [, section] = page.split(new RegExp(`^## ${heading}$`, 'm'))
  if (section === undefined) throw new Error(`docs/hosting.md has no section "${heading}"`)
  const [text = ''] = section.split(/^## /m)
  return [...text.matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, block = '']) => block)
}

/** Writes a file to the path in its first line, if it has one; returns the path. */
function writeFile(text: string): string | undefined {
  const [, path] = /^# (\/\S+)\n/.exec(text) ?? []
  if (path === undefined) return undefined
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

/** Writes the files of a section. */
export const writeFiles = (heading: string): void => blocks(heading).forEach(writeFile)

/** Writes the configuration of a proxy; returns its path. */
export function writeProxyFile(name: string): string {
  const path = writeFile(readFileSync(join(root, 'deploy/proxies', name), 'utf8'))
  if (path === undefined) throw new Error(`${name} has no path in its first line`)
  return path
}

/** The commands of a section, as one script. It runs as root, who may have no sudo. */
export function script(heading: string): string {
  return `set -e\n${blocks(heading)
    .filter((block) => !/^# \//.test(block))
    .join('')
    .replace(/^sudo /gm, '')}`
}

/** Makes the private copies of /etc, /run and /var, and a network of its own, with the host of the page in it. */
export async function prepareMachine(folder: string): Promise<void> {
  await sh('ip', 'link', 'set', 'lo', 'up')
  await sh('mount', '-t', 'tmpfs', 'tmpfs', folder)
  // With the namespace goes the mount; until then its folder is busy.
  after(() => sh('umount', '--lazy', folder))
  for (const name of ['etc', 'var']) {
    const [upper, work] = [join(folder, name), join(folder, `${name}.work`)]
    mkdirSync(upper)
    mkdirSync(work)
    const layers = `lowerdir=/${name},upperdir=${upper},workdir=${work}`
    await sh('mount', '-t', 'overlay', 'overlay', '-o', layers, `/${name}`)
  }
  await sh('mount', '-t', 'tmpfs', 'tmpfs', '/run')
  writeFileSync('/etc/hosts', `127.0.0.1 localhost ${HOST}\n::1 localhost\n`)
  mkdirSync(dirname(DATABASE), { recursive: true })
  for (const name of ['lock', 'plantstore']) mkdirSync(join('/run', name))
}

/** Fails the case unless something holds. */
export function expect(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what)
}
