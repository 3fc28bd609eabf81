// One folder for all tests of a file.
import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Folder, folderAt } from './folder'
import { aroundTests } from './own'

/** A folder for the file that calls it: named at once, made before its first test, removed after its last one. */
export function ownFolder(parent = tmpdir()): Folder {
  const folder = folderAt(join(parent, `plantstore-${crypto.randomUUID().slice(0, 8)}`))
  aroundTests(() => mkdirSync(folder.path, { mode: 0o700 }), folder[Symbol.dispose])
  return folder
}
