// How a person on this machine runs another command of the program.

import { existsSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { ownProgram, quote } from '../program'

/** What an invocation depends on. */
export type Surroundings = {
  /** The program: its executable, or Bun and its first file. */
  readonly program: readonly string[]
  readonly host: string
  readonly uid: number
  /** The lines of /etc/passwd. */
  readonly users: readonly string[]
  readonly exists: (path: string) => boolean
}

// What a container's engine leaves in it, and how a command is run in it from outside.
const containers = [
  ['/var/run/secrets/kubernetes.io', 'kubectl exec', '--'],
  ['/run/.containerenv', 'podman exec', ''],
  ['/.dockerenv', 'docker exec', ''],
] as const

const INSTALLED = '/usr/bin/plantstore'

/** A command line up to the command's name; `secret`: an assignment for its environment, or ''. */
export function invocation(it: Surroundings, secret = ''): string {
  const words = (...all: string[]) => all.filter(Boolean).join(' ')
  const isInstalled = it.program[0] === INSTALLED
  const container = isInstalled && containers.find(([mark]) => it.exists(mark))
  // The environment of the container has the secret.
  if (container) return words(container[1], quote(it.host), container[2], 'plantstore')
  const own = isInstalled ? 'plantstore' : words(...it.program.map(quote))
  // name:x:uid:gid:comment:home:shell
  const [user = '', , , , , , shell = ''] =
    it.users.map((line) => line.split(':')).find(([, , uid]) => uid === String(it.uid)) ?? []
  // Nobody can log in as the user of the Debian package.
  const isService = /\/(?:nologin|false)$/.test(shell)
  return words(isService ? `sudo -u ${user}` : '', secret, own)
}

/** What is true of this process. */
export const surroundings = (): Surroundings => ({
  program: ownProgram(),
  host: hostname(),
  uid: process.getuid?.() ?? 0,
  users: existsSync('/etc/passwd') ? readFileSync('/etc/passwd', 'utf8').split('\n') : [],
  exists: existsSync,
})
