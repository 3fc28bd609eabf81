import { Alert } from '../controls/alert.tsx'
import { Modal } from '../controls/modal.tsx'
import { countPlants } from '../counts.ts'
import { ColumnChoices } from './column-choices.tsx'
import type { Preview } from './preview.ts'
import { ReadingChoices } from './reading-choices.tsx'
import { ReplaceChoice } from './replace-choice.tsx'
import { ResultPreview } from './result-preview.tsx'

/** The plants that would be created or replaced, or null if not yet known. */
function countToImport({ analysis, input }: Preview): number | null {
  const latest = analysis.value
  if (!latest?.isWhole || input.value === null) return null
  const { comparison, rows, refused } = latest
  if (comparison === null || comparison === 'failed') return rows - refused
  return comparison.created + (input.value.replaces ? comparison.differing : 0)
}

/** The label of the button, with the number of plants once it is known. */
function labelOfImport(preview: Preview): string {
  const count = countToImport(preview)
  return count ? `Import ${countPlants(count)}` : 'Import'
}

/** The questions about a file before its import, and a preview of the result. */
export function PreviewForm({ preview }: { readonly preview: Preview }) {
  const { readable, error } = preview
  const { file } = preview.detection
  const isNothing = countToImport(preview) === 0
  return (
    <Modal label={`Import ${file.name}`} onEscape={preview.cancel}>
      <form
        class="preview"
        onSubmit={(event) => {
          event.preventDefault()
          if (!isNothing) preview.accept()
        }}
      >
        <h2 tabIndex={-1}>
          Import <bdi>{file.name}</bdi>
        </h2>
        {readable.value ? <ColumnChoices preview={preview} /> : null}
        {error.value === null ? (
          <>
            <ResultPreview preview={preview} />
            <ReplaceChoice preview={preview} />
          </>
        ) : (
          <Alert text={`This does not work: ${error.value}`} />
        )}
        <ReadingChoices preview={preview} />
        <div class="actions">
          <button type="submit" class="primary" aria-disabled={!preview.isReady || isNothing}>
            {labelOfImport(preview)}
          </button>
          <button type="button" onClick={preview.cancel}>
            Cancel
          </button>
        </div>
      </form>
    </Modal>
  )
}
