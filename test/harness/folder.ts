// Temporary folders of tests.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type Folder = ReturnType<typeof folderAt>

/** A folder that is removed at the end of its block: `using folder = temporaryFolder()`. */
export function temporaryFolder(parent = tmpdir()): Folder {
  return folderAt(mkdtempSync(join(parent, 'plantstore-')))
}

/** A folder by its path; disposing of it removes it. */
export function folderAt(path: string) {
  return {
    path,
    file: (name: string) => join(path, name),
    [Symbol.dispose]: () => remove(path),
  }
}

function remove(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch {
    // A test has made a folder in it read-only.
    Bun.spawnSync(['chmod', '-R', 'u+rwX', path])
    rmSync(path, { recursive: true, force: true })
  }
}
