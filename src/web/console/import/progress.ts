// The file that is imported, and the results of those before it.

import { signal } from '@preact/signals'
import type { VNode } from 'preact'
import type { Import } from './state.ts'

const beginningOf = ({ name, size }: File): Import => ({
  name,
  bytes: size,
  bytesRead: 0,
  checked: 0,
  rows: 0,
  created: 0,
  known: 0,
  replaced: 0,
  refused: 0,
  emptyNames: 0,
  notices: [],
  groups: [],
  refusedRows: null,
  state: 'opening',
  notRead: null,
  reason: null,
  isOfFile: false,
})

export function createProgress() {
  const current = signal<Import | null>(null)
  /** Files that were dropped or chosen together with the current one, and came before it. */
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
      current.value = beginningOf(file)
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
