// The file of an import's refused rows, which gets its name once it is complete. There is none if no row was refused.

import { closeSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { UsageError } from '../../errors'
import { produceFile } from '../../files/replace-file'
import { checkFolder, targetOf } from '../../files/resolve-path'
import { writeAll } from '../terminal/output'

/** Throws unless the file can be made, and is none of `others`, which are read or written meanwhile. */
export function checkRefusedFile(path: string, others: readonly string[]): void {
  const target = targetOf(path)
  const own = others.find((other) => targetOf(other) === target)
  if (own !== undefined)
    throw new UsageError(`--refused: ${path} is in use by this import; name another file`)
  checkFolder(dirname(target))
}

export type RefusedFile = {
  add(text: string): void
  /** Writes what was added. Rejects with an `OpenError` if it cannot. */
  flush(): Promise<void>
  /** Completes the file. */
  end(): Promise<void>
}

export function createRefusedFile(path: string, header: string): RefusedFile {
  const ended = Promise.withResolvers<void>()
  let texts: string[] = []
  let fd: Promise<number> | undefined
  let produced: Promise<unknown> | undefined

  function open(): Promise<number> {
    const opened = Promise.withResolvers<number>()
    produced = produceFile(path, 'replace', async (temporary) => {
      const file = openSync(temporary, 'wx', 0o600)
      opened.resolve(file)
      await ended.promise
      closeSync(file)
    })
    produced.catch(opened.reject)
    texts.unshift(header)
    return opened.promise
  }

  async function flush(): Promise<void> {
    if (texts.length === 0) return
    fd ??= open()
    const file = await fd
    const text = texts.join('')
    texts = []
    writeAll(file, text)
  }

  return {
    add: (text) => void texts.push(text),
    flush,
    async end() {
      await flush()
      ended.resolve()
      await produced
    },
  }
}
