// Temporary folders of tests.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder that is removed at the end of its block: `using folder = temporaryFolder()`. */
export function temporaryFolder(parent = tmpdir()) {
  const path = mkdtempSync(join(parent, 'plantstore-'))
  return {
    path,
    file: (name: string) => join(path, name),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  }
}
