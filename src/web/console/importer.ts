// Imports files of plants, one after another: what reads them is loaded once a token is there that may write.

import { effect, signal } from '@preact/signals'
import type { VNode } from 'preact'
import type { Manner } from './import/import.tsx'
import type { Memory, Plan } from './import/plan.ts'
import type { Import } from './import/state.ts'
import type { Session } from './session.ts'

export type Importer = ReturnType<typeof createImporter>

const beginningOf = ({ name, size }: File): Import => ({
  name,
  bytes: size,
  bytesRead: 0,
  rows: 0,
  created: 0,
  known: 0,
  refused: 0,
  notices: [],
  lines: [],
  refusedRows: null,
  state: 'opening',
  notRead: null,
  reason: null,
  isOfFile: false,
})

const NOT_LOADED = 'this page is out of date, or plantstore does not answer; reload the page'

export function createImporter(session: Session, onChange: () => void) {
  const current = signal<Import | null>(null)
  /** The files before it that were dropped or chosen together with it. */
  const earlier = signal<readonly Import[]>([])
  /** What is asked about a file. */
  const form = signal<VNode | null>(null)
  const memory: Memory = new Map()
  const waiting: File[] = []
  let last: { readonly file: File; readonly plan: Plan | null } | null = null
  let isBusy = false
  let abort = new AbortController()

  const load = () => import('./import/import.tsx').catch(() => null)
  // Ahead of the first file: one that is chosen while the service does not answer waits for it, like any other.
  effect(() => {
    if (session.isConnected.value && !session.isReadOnly.value) void load()
  })

  function update(change: (before: Import) => Partial<Import>): void {
    if (current.value) current.value = { ...current.value, ...change(current.value) }
  }

  async function importFile(file: File, manner: Manner): Promise<void> {
    current.value = beginningOf(file)
    last = { file, plan: null }
    const { signal } = abort
    const ask = (it: VNode | null) => {
      form.value = it
    }
    const loaded = await load()
    if (!loaded) update(() => ({ state: 'failed', reason: NOT_LOADED }))
    const around = { session, memory, signal, update, ask }
    const plan = (await loaded?.importFile(file, manner, around)) ?? null
    last = { file, plan }
    if (plan) onChange()
    // Nothing is said of a file that was not wanted.
    if (current.value?.state === 'cancelled') current.value = null
  }

  async function importAll(first: File | undefined, manner: Manner): Promise<void> {
    isBusy = true
    abort = new AbortController()
    if (first) await importFile(first, manner)
    for (let file = waiting.shift(); file; file = waiting.shift()) {
      if (current.value) earlier.value = [...earlier.value, current.value]
      await importFile(file, 'ask if needed')
    }
    // The last file was not wanted: what became of the one before it is shown in its place.
    if (!current.value && earlier.value.length > 0) {
      current.value = earlier.value.at(-1) ?? null
      earlier.value = earlier.value.slice(0, -1)
      last = null
    }
    isBusy = false
  }

  function dismiss(): void {
    earlier.value = []
    current.value = null
    last = null
  }

  return {
    current,
    earlier,
    form,

    /** Imports files, one after another. */
    async add(files: Iterable<File>): Promise<void> {
      waiting.push(...files)
      if (isBusy) return
      dismiss()
      await importAll(waiting.shift(), 'ask if needed')
    },

    /** Stops, and cancels the current request. */
    stop(): void {
      waiting.length = 0
      abort.abort()
    },

    /** True if {@link retry} can do something. */
    canRetry: (): boolean =>
      last !== null &&
      current.value?.reason === null &&
      (current.value.state === 'failed' || current.value.state === 'stopped'),

    /**
     * Imports the file again that failed or was stopped: what is stored already is not stored twice. If the file is the reason,
     * how it is read is asked for.
     */
    async retry(): Promise<void> {
      if (!last || isBusy) return
      await importAll(last.file, current.value?.isOfFile ? 'ask' : (last.plan ?? 'ask if needed'))
    },

    dismiss,

    /** Forgets what was chosen for files. */
    forget: (): void => memory.clear(),
  }
}
