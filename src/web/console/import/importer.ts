// The queue of files to import. The readers of files are loaded once a token that may write is accepted.

import { computed, effect, signal } from '@preact/signals'
import { NOT_LOADED } from '../controls/lazily.tsx'
import type { Session } from '../session.ts'
import type { UndoItem } from '../undo/undo-history.ts'
import type { ReadingMode } from './import-file.tsx'
import { Import } from './state.ts'

export type Importer = ReturnType<typeof createImporter>

type QueuedFile = { readonly file: File; readonly mode: ReadingMode }

const loadReaders = () => import('./import-file.tsx').catch(() => null)

/** Loads the readers before a file is chosen, so that one chosen during an outage can wait for its end. */
function preloadReaders(session: Session): void {
  effect(() => {
    if (session.isConnected.value && !session.isReadOnly.value) void loadReaders()
  })
}

type OnDone = (item: UndoItem) => void

/** The files chosen together, up to the current one. */
class ImportList {
  readonly imports = signal<readonly Import[]>([])
  readonly current = computed(() => this.imports.value.at(-1) ?? null)

  add(file: File): void {
    this.imports.value = [...this.imports.value, new Import(file)]
  }

  readonly update = (change: (before: Import) => Partial<Import>): void => {
    const { value: before } = this.current
    if (before) this.imports.value = this.imports.value.with(-1, { ...before, ...change(before) })
  }

  removeCurrent(): void {
    this.imports.value = this.imports.value.slice(0, -1)
  }
}

export function createImporter(session: Session, onChange: () => void, onDone: OnDone) {
  const list = new ImportList()
  const { imports, current, update } = list
  const firstNumbers = new Map<string, string>()
  const queue: QueuedFile[] = []
  let isBusy = false
  let abort = new AbortController()
  preloadReaders(session)

  async function importFile({ file, mode }: QueuedFile): Promise<void> {
    list.add(file)
    const { ended } = session
    const onDoneHere: OnDone = (item) => (ended.aborted ? undefined : onDone(item))
    const { signal } = abort
    const context = { session, firstNumbers, signal, update, onDone: onDoneHere }
    const readers = await loadReaders()
    if (readers) await readers.importFile(file, mode, context)
    else update(() => ({ state: 'failed', reason: NOT_LOADED }))
    if (current.value?.input) onChange()
    if (current.value?.state === 'cancelled') list.removeCurrent()
  }

  async function importQueue(): Promise<void> {
    isBusy = true
    abort = new AbortController()
    for (let next = queue.shift(); next; next = queue.shift()) await importFile(next)
    isBusy = false
  }

  function dismiss(): void {
    imports.value = []
  }

  return {
    imports,
    current,

    async add(files: Iterable<File>, mode: ReadingMode = 'ask if needed'): Promise<void> {
      for (const file of files) queue.push({ file, mode })
      if (isBusy) return
      dismiss()
      await importQueue()
    },

    /** Stops, and cancels the current request. */
    stop(): void {
      queue.length = 0
      abort.abort()
    },

    canRetry: (): boolean =>
      current.value?.reason === null &&
      (current.value.state === 'failed' || current.value.state === 'stopped'),

    /**
     * Imports a failed or stopped file again; stored plants are skipped. Asks how to read it if the file caused the
     * failure.
     */
    async retry(): Promise<void> {
      const { value: failed } = current
      if (!failed || isBusy) return
      const { file, input, isFileError } = failed
      list.removeCurrent()
      queue.push({ file, mode: isFileError ? 'ask' : (input ?? 'ask if needed') })
      await importQueue()
    },

    dismiss,

    /** Forgets the numbers of files. */
    forget: (): void => firstNumbers.clear(),
  }
}
