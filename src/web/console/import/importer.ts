// The queue of files to import. The readers of files are loaded once a token that may write is accepted.

import { effect } from '@preact/signals'
import { NOT_LOADED } from '../loading.ts'
import type { Session } from '../session.ts'
import type { Act } from '../undo/acts.ts'
import type { ImportInput, Memory } from './detect.ts'
import type { Manner } from './one-file.tsx'
import { createProgress } from './progress.ts'

export type Importer = ReturnType<typeof createImporter>

type QueuedFile = { readonly file: File; readonly manner: Manner }

type Attempt = { readonly file: File; readonly input: ImportInput | null }

const loadReaders = () => import('./one-file.tsx').catch(() => null)

/** Loads ahead of the first file: one that is chosen during an outage waits for its end, like any other. */
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

  async function importFile(file: File, manner: Manner): Promise<void> {
    progress.begin(file)
    last = { file, input: null }
    const { signal } = abort
    const readers = await loadReaders()
    if (!readers) update(() => ({ state: 'failed', reason: NOT_LOADED }))
    const around = { session, memory, signal, update, onDone, ask: progress.ask }
    const input = (await readers?.importFile(file, manner, around)) ?? null
    last = { file, input }
    if (input) onChange()
    progress.dropCancelled()
  }

  async function importAll(first: QueuedFile | undefined): Promise<void> {
    isBusy = true
    abort = new AbortController()
    if (first) await importFile(first.file, first.manner)
    for (let next = queue.shift(); next; next = queue.shift()) {
      progress.archive()
      await importFile(next.file, next.manner)
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

    async add(files: Iterable<File>, manner: Manner = 'ask if needed'): Promise<void> {
      for (const file of files) queue.push({ file, manner })
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
      const manner = current.value?.isOfFile ? 'ask' : (last.input ?? 'ask if needed')
      await importAll({ file: last.file, manner })
    },

    dismiss,

    /** Forgets the settings chosen for files. */
    forget: (): void => memory.clear(),
  }
}
