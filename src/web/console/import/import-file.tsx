// Imports one file. Loaded on demand, as it includes the readers of all formats.

import { reasonOf } from './advice.ts'
import { createComparison } from './compare.ts'
import { detectFile, type ImportInput, unquestionedInput } from './detect-file.ts'
import { withoutHeader } from './pasted-table.ts'
import { createPreview } from './preview.ts'
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
  const { session, memory, signal, update } = context
  const original = await detectFile(file, signal)
  const detection = mode === 'pasted' ? await withoutHeader(original, signal) : original
  const detectedInput =
    mode !== 'ask if needed'
      ? null
      : await unquestionedInput(detection, createComparison(session), signal, (comparedRows) =>
          update(() => ({ comparedRows })),
        )
  if (detectedInput || signal.aborted) return detectedInput
  const preview = await createPreview(detection, session, memory)
  signal.addEventListener('abort', preview.cancel)
  update(() => ({ form: <PreviewForm preview={preview} /> }))
  const input = await preview.decision
  signal.removeEventListener('abort', preview.cancel)
  return input
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
