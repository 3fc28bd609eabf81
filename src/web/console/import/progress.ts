// The progress of the current file, and the results of earlier ones.

import { signal } from '@preact/signals'
import type { VNode } from 'preact'
import type { Import } from './state.ts'

const newImport = ({ name, size }: File): Import => ({
  name,
  bytes: size,
  bytesRead: 0,
  comparedRows: 0,
  rows: 0,
  created: 0,
  skipped: 0,
  replaced: 0,
  refused: 0,
  emptyNames: 0,
  notices: [],
  groups: [],
  refusedRows: null,
  state: 'opening',
  unreadReason: null,
  reason: null,
  isFileError: false,
})

export function createProgress() {
  const current = signal<Import | null>(null)
  /** The files chosen together with the current one that came before it. */
  const earlier = signal<readonly Import[]>([])
  /** The questions about the current file. */
  const form = signal<VNode | null>(null)
  return {
    current,
    earlier,
    form,

    /** Shows a form, or removes it (null). */
    ask(questions: VNode | null): void {
      form.value = questions
    },

    begin(file: File): void {
      current.value = newImport(file)
    },

    update(change: (before: Import) => Partial<Import>): void {
      if (current.value) current.value = { ...current.value, ...change(current.value) }
    },

    /** Moves the current file to the earlier ones. */
    archive(): void {
      if (current.value) earlier.value = [...earlier.value, current.value]
    },

    /** Drops a cancelled file, without a result. */
    dropCancelled(): void {
      if (current.value?.state === 'cancelled') current.value = null
    },

    /** Shows the latest earlier file if there is no current one; true if it did. */
    showEarlier(): boolean {
      const latest = earlier.value.at(-1)
      if (current.value || !latest) return false
      current.value = latest
      earlier.value = earlier.value.slice(0, -1)
      return true
    },

    clear(): void {
      earlier.value = []
      current.value = null
    },
  }
}
