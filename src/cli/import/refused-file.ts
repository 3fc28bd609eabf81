// The file of an import's refused rows, placed once complete: empty if no row was refused.

import { appendFileSync } from 'node:fs'
import { writeError } from '../../errors'
import { beginFile } from '../../files/replace-file'

export type RefusedFile = AsyncDisposable & {
  /** Adds a row; `header` is written before the first. */
  add(row: string, header: string): void
  /** Writes the added rows. Throws an `OpenError` if that fails; the file is then never created. */
  flush(): void
  /** Completes the file. Resolves to false if it has no row. Rejects with an `OpenError` if that fails. */
  end(): Promise<boolean>
}

/** Begins the file; see {@link beginFile}. */
export async function openRefusedFile(
  path: string,
  otherFiles: readonly string[],
): Promise<RefusedFile> {
  const file = await beginFile(path, 'replace', otherFiles)
  let texts: string[] = []
  let hasRows = false
  let hasFailed = false

  function fail(error: unknown): never {
    hasFailed = true
    throw writeError(error, file.path)
  }

  function flush(): void {
    try {
      appendFileSync(file.tempPath, texts.join(''), { mode: 0o600 })
      texts = []
    } catch (error) {
      fail(error)
    }
  }

  return {
    add(row, header) {
      if (!hasRows) texts.push(header)
      hasRows = true
      texts.push(row)
    },
    flush,
    async end() {
      if (hasFailed) return false
      flush()
      await file.place().catch(fail)
      return hasRows
    },
    [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
  }
}
