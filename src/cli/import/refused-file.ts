// The file of an import's refused rows, placed once complete: empty if no row was refused.

import { appendFile } from 'node:fs/promises'
import { beginFile } from '../../files/replace-file'

export type RefusedFile = AsyncDisposable & {
  /** Adds a row; `header` is written before the first. */
  add(row: string, header: string): void
  /** Writes the added rows. Rejects with an `OpenError` if that fails; the file is then never created. */
  flush(): Promise<void>
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

  async function flush(): Promise<void> {
    const text = texts.join('')
    // More rows may be added meanwhile.
    texts = []
    try {
      await file.write((temp) => appendFile(temp, text))
    } catch (error) {
      hasFailed = true
      throw error
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
      await flush()
      await file.place()
      return hasRows
    },
    [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
  }
}
