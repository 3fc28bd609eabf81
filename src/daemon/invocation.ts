// The command line for another command of this program, as shown to the user.

import { existsSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { ownProgram, quote } from '../program'

/** The facts that an invocation depends on. */
export type Surroundings = {
  /** The program: its executable, or Bun and its first file. */
  readonly program: readonly string[]
  readonly host: string
  readonly uid: number
  /** The lines of /etc/passwd. */
  readonly users: readonly string[]
  readonly exists: (path: string) => boolean
}

// Files that reveal a container engine, and its command for running another in the container.
const CONTAINERS = [
  ['/var/run/secrets/kubernetes.io', 'kubectl exec', '--'],
  ['/run/.containerenv', 'podman exec', ''],
  ['/.dockerenv', 'docker exec', ''],
] as const

const INSTALLED = '/usr/bin/plantstore'
// The Bun that npx has installed has no path that anyone would type.
const NPX = '/_npx/'

/** A command line up to the command's name; `secret`: an environment assignment, or ''. */
export function invocation(
  { program, host, uid, users, exists }: Surroundings,
  secret = '',
): string {
  const [executable = '', ...source] = program
  const words = (...all: string[]) => all.filter(Boolean).join(' ')
  const isInstalled = executable === INSTALLED
  const container = isInstalled && CONTAINERS.find(([mark]) => exists(mark))
  // The container's environment has the secret.
  if (container) return words(container[1], quote(host), container[2], 'plantstore')
  const bun = executable.includes(NPX) ? `npx --yes bun@${Bun.version}` : quote(executable)
  const own = isInstalled ? 'plantstore' : words(bun, ...source.map(quote))
  // name:x:uid:gid:comment:home:shell
  const [user = '', , , , , , shell = ''] =
    users.map((line) => line.split(':')).find(([, , id]) => id === String(uid)) ?? []
  // The user of the Debian package has no login shell.
  const isService = /\/(?:nologin|false)$/.test(shell)
  return words(isService ? `sudo -u ${user}` : '', secret, own)
}

/** The facts of this process. */
export const surroundings = (): Surroundings => ({
  program: ownProgram(),
  host: hostname(),
  uid: process.getuid?.() ?? 0,
  users: existsSync('/etc/passwd') ? readFileSync('/etc/passwd', 'utf8').split('\n') : [],
  exists: existsSync,
})
