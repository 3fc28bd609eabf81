// Imports one file. Loaded on demand, as it includes the readers of all formats.

import type { VNode } from 'preact'
import type { Session } from '../session.ts'
import type { Act } from '../undo/acts.ts'
import { reasonOf } from './advice.ts'
import { createComparison } from './compare.ts'
import { detectFile, type ImportInput, type Memory, usualInput } from './detect.ts'
import { withoutHeader } from './pasted-table.ts'
import { createPreview } from './preview.ts'
import { PreviewForm } from './preview-form.tsx'
import { run } from './run.ts'
import type { Import } from './state.ts'

/** The session and the callbacks of an import. */
export type Surroundings = {
  readonly session: Session
  readonly memory: Memory
  readonly signal: AbortSignal
  readonly update: (change: (before: Import) => Partial<Import>) => void
  /** Called with the changes. */
  readonly onDone: (act: Act) => void
  /** Shows a form, or removes it (null). */
  readonly ask: (form: VNode | null) => void
}

/** The way to read a file: as before, as the user says, or as detected if that needs no question. */
export type Manner = ImportInput | 'ask' | 'ask if needed' | 'pasted'

/** Detects or asks for the way to read a file. Resolves to null if the import was cancelled. */
async function chooseInput(file: File, manner: Exclude<Manner, ImportInput>, around: Surroundings) {
  const { session, memory, signal, update, ask } = around
  const detected = await detectFile(file, signal)
  const detectedFile = manner === 'pasted' ? await withoutHeader(detected, signal) : detected
  const input =
    manner !== 'ask if needed'
      ? null
      : await usualInput(detectedFile, createComparison(session), signal, (checked) =>
          update(() => ({ checked })),
        )
  if (input || signal.aborted) return input
  update(() => ({ state: 'asking' }))
  const preview = await createPreview(detectedFile, session, memory)
  signal.addEventListener('abort', preview.cancel)
  ask(<PreviewForm preview={preview} />)
  const decided = await preview.decided
  signal.removeEventListener('abort', preview.cancel)
  ask(null)
  return decided
}

/** Imports a file. Resolves to its input, or null if nothing was sent. Never rejects. */
export async function importFile(
  file: File,
  manner: Manner,
  around: Surroundings,
): Promise<ImportInput | null> {
  const { session, signal, update, onDone } = around
  let input: ImportInput | null
  try {
    input = typeof manner === 'string' ? await chooseInput(file, manner, around) : manner
  } catch (error) {
    if (signal.aborted) input = null
    else {
      update(() => ({ state: 'failed', reason: reasonOf(error), isOfFile: true }))
      return null
    }
  }
  if (!input) {
    update(() => ({ state: 'cancelled' }))
    return null
  }
  update(() => ({ state: 'running' }))
  const importedInput = await run(input, session, signal, update)
  if (importedInput.steps.length > 0 || importedInput.lasting !== undefined)
    onDone({ what: `the import of ${file.name}`, ...importedInput })
  return input
}
