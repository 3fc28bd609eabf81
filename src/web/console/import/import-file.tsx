// Imports one file. Loaded on demand, as it includes the readers of all formats.

import { reasonOf } from './advice.ts'
import { detectFile, type ImportInput } from './detect-file.ts'
import { withoutHeader } from './pasted-table.ts'
import { Preview } from './preview.ts'
import { PreviewForm } from './preview-form.tsx'
import { sendPlants } from './send-plants.ts'
import type { ImportContext } from './state.ts'

/** The way to read a file: as before, as the user chooses, or as detected if that is certain. */
export type ReadingMode = ImportInput | 'ask' | 'ask if needed' | 'pasted'

/** Detects how to read a file, or asks. Resolves to null if the import was cancelled. */
async function chooseInput(
  file: File,
  mode: Exclude<ReadingMode, ImportInput>,
  context: ImportContext,
) {
  const { session, firstNumbers, signal, update } = context
  const original = await detectFile(file, signal)
  const detection = mode === 'pasted' ? await withoutHeader(original, signal) : original
  if (signal.aborted) return null
  const preview = new Preview(detection, session, firstNumbers)
  signal.addEventListener('abort', preview.cancel)
  if (mode !== 'ask if needed' || !(await preview.acceptDetected())) {
    await preview.prepare()
    if (signal.aborted) return null
    update(() => ({ form: <PreviewForm preview={preview} /> }))
  }
  return preview.decision.finally(() => signal.removeEventListener('abort', preview.cancel))
}

/** Imports a file. Never rejects. */
export async function importFile(
  file: File,
  mode: ReadingMode,
  context: ImportContext,
): Promise<void> {
  const { signal, update, onDone } = context
  let input: ImportInput | null = null
  try {
    input = typeof mode === 'string' ? await chooseInput(file, mode, context) : mode
  } catch (error) {
    if (!signal.aborted)
      return update(() => ({ state: 'failed', reason: reasonOf(error), isFileError: true }))
  }
  if (!input) return update(() => ({ state: 'cancelled' }))
  update(() => ({ state: 'running', input, form: null }))
  const changes = await sendPlants(input, context)
  if (changes.steps.length > 0 || changes.undoBarrier !== undefined)
    onDone({ what: `the import of ${file.name}`, ...changes })
}
