// A copy of the source, for tests that change it or build it anew.
import { cpSync } from 'node:fs'
import { basename } from 'node:path'
import { root } from './daemon'

const LEFT_OUT = ['node_modules', 'dist', '.git']

/** Copies the repository into a folder, without packages, history and what is built. */
export function copySource(folder: string): void {
  cpSync(root, folder, { recursive: true, filter: (path) => !LEFT_OUT.includes(basename(path)) })
}
