// The command line for another command of this program, as shown to the user.

import { existsSync, readFileSync } from 'node:fs'
import { ownProgram, quote } from '../program'

/** The facts that an invocation depends on. */
export type Surroundings = {
  /** The program: its executable, or Bun and its first file. */
  readonly program: readonly string[]
  readonly uid: number
  /** The lines of /etc/passwd. */
  readonly users: readonly string[]
}

const INSTALLED = '/usr/bin/plantstore'
// The user of the Debian package.
const SERVICE_USER = 'plantstore'

/** A command line up to the command's name; `secret`: an environment assignment, or ''. */
export function invocation({ program, uid, users }: Surroundings, secret = ''): string {
  const [executable = '', ...source] = program
  const words = (...all: string[]) => all.filter(Boolean).join(' ')
  const own =
    executable === INSTALLED ? 'plantstore' : words(quote(executable), ...source.map(quote))
  // name:x:uid:gid:comment:home:shell
  const [user] = users.map((line) => line.split(':')).find(([, , id]) => id === String(uid)) ?? []
  return words(user === SERVICE_USER ? `sudo -u ${SERVICE_USER}` : '', secret, own)
}

/** The facts of this process. */
export const surroundings = (): Surroundings => ({
  program: ownProgram(),
  uid: process.getuid?.() ?? 0,
  users: existsSync('/etc/passwd') ? readFileSync('/etc/passwd', 'utf8').split('\n') : [],
})
