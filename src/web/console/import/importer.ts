// The queue of files to import. The readers of files are loaded once a token that may write is accepted.

import { effect } from '@preact/signals'
import { NOT_LOADED } from '../not-loaded.ts'
import type { Session } from '../session.ts'
import type { Act } from '../undo/acts.ts'
import type { ImportInput, Memory } from './detect-file.ts'
import type { ReadingMode } from './import-file.tsx'
import { createProgress } from './progress.ts'

export type Importer = ReturnType<typeof createImporter>

type QueuedFile = { readonly file: File; readonly mode: ReadingMode }

type Attempt = { readonly file: File; readonly input: ImportInput | null }

const loadReaders = () => import('./import-file.tsx').catch(() => null)

/** Loads the readers before a file is chosen, so that one chosen during an outage can wait for its end. */
function preloadReaders(session: Session): void {
  effect(() => {
    if (session.isConnected.value && !session.isReadOnly.value) void loadReaders()
  })
}

export function createImporter(session: Session, onChange: () => void, onDone: (act: Act) => void) {
  const progress = createProgress()
  const { current, update } = progress
  const memory: Memory = new Map()
  const queue: QueuedFile[] = []
  let last: Attempt | null = null
  let isBusy = false
  let abort = new AbortController()
  preloadReaders(session)

  async function importFile(file: File, mode: ReadingMode): Promise<void> {
    progress.begin(file)
    last = { file, input: null }
    const { signal } = abort
    const readers = await loadReaders()
    if (!readers) update(() => ({ state: 'failed', reason: NOT_LOADED }))
    const context = { session, memory, signal, update, onDone, ask: progress.ask }
    const input = (await readers?.importFile(file, mode, context)) ?? null
    last = { file, input }
    if (input) onChange()
    progress.dropCancelled()
  }

  async function importAll(first: QueuedFile | undefined): Promise<void> {
    isBusy = true
    abort = new AbortController()
    if (first) await importFile(first.file, first.mode)
    for (let next = queue.shift(); next; next = queue.shift()) {
      progress.archive()
      await importFile(next.file, next.mode)
    }
    if (progress.showEarlier()) last = null
    isBusy = false
  }

  function dismiss(): void {
    progress.clear()
    last = null
  }

  return {
    current,
    earlier: progress.earlier,
    form: progress.form,

    async add(files: Iterable<File>, mode: ReadingMode = 'ask if needed'): Promise<void> {
      for (const file of files) queue.push({ file, mode })
      if (isBusy) return
      dismiss()
      await importAll(queue.shift())
    },

    /** Stops, and cancels the current request. */
    stop(): void {
      queue.length = 0
      abort.abort()
    },

    canRetry: (): boolean =>
      last !== null &&
      current.value?.reason === null &&
      (current.value.state === 'failed' || current.value.state === 'stopped'),

    /**
     * Imports a failed or stopped file again; stored plants are skipped. Asks how to read it if the file caused the
     * failure.
     */
    async retry(): Promise<void> {
      if (!last || isBusy) return
      const mode = current.value?.isFileError ? 'ask' : (last.input ?? 'ask if needed')
      await importAll({ file: last.file, mode })
    },

    dismiss,

    /** Forgets the settings chosen for files. */
    forget: (): void => memory.clear(),
  }
}
