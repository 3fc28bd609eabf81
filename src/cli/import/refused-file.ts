// The file of an import's refused rows, placed once complete: empty if no row was refused.

import { closeSync, existsSync, openSync } from 'node:fs'
import { OpenError } from '../../errors'
import { beginFile } from '../../files/replace-file'
import { explainFailedWrite } from '../../files/resolve-path'
import { writeAll } from '../terminal/output'

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
  let fd: number | null = null
  let hasFailed = false

  function fail(error: unknown): never {
    hasFailed = true
    const explanation = explainFailedWrite(error, file.path)
    if (!(explanation instanceof OpenError)) throw explanation
    const old = existsSync(file.path) ? `, and ${path} is unchanged` : ''
    throw new OpenError(
      `${explanation.message}; the refused rows were not saved${old}`,
      explanation.storage,
    )
  }

  function write(text: string): void {
    try {
      fd ??= openSync(file.tempPath, 'wx', 0o600)
      writeAll(fd, text)
    } catch (error) {
      fail(error)
    }
  }

  function flush(): void {
    if (texts.length === 0) return
    write(texts.join(''))
    texts = []
  }

  return {
    add(row, header) {
      if (fd === null && texts.length === 0) texts.push(header)
      texts.push(row)
    },
    flush,
    async end() {
      if (hasFailed) return false
      flush()
      const hasRows = fd !== null
      write('')
      await file.place().catch(fail)
      return hasRows
    },
    async [Symbol.asyncDispose]() {
      if (fd !== null) closeSync(fd)
      await file[Symbol.asyncDispose]()
    },
  }
}
