import { OPTIONAL_TEXTS } from '../../../plant/plant.ts'
import { Check } from '../controls/check.tsx'
import type { Comparison } from './compare.ts'
import { Differences } from './differences.tsx'
import type { Preview } from './preview.ts'

type PreviewProps = { readonly preview: Preview }

/** The choice to replace stored plants, and the texts that stay as they are. */
function Replace({ preview: { replaces, columns } }: PreviewProps) {
  const unchangedTexts = OPTIONAL_TEXTS.filter((text) => columns.value[text] === null)
  return (
    <>
      <Check label="Replace the plants that differ" isChecked={replaces} />
      {replaces.value ? null : (
        <p class="hint">Otherwise refused: the stored plants stay as they are.</p>
      )}
      {unchangedTexts.length === 0 ? null : (
        <p class="hint">
          Stored plants keep their {unchangedTexts.join(' and ')}: no column of the file has it.
        </p>
      )}
    </>
  )
}

function describeComparison({ created, differing, unchanged }: Comparison): string {
  const differ = `${differing.toLocaleString()} ${differing === 1 ? 'differs' : 'differ'}`
  return `${created.toLocaleString()} new, ${differ}, ${unchanged.toLocaleString()} unchanged`
}

/** The comparison with the stored plants, and the choice to replace them. */
export function ReplaceChoice({ preview }: PreviewProps) {
  const { comparison = null, isWhole } = preview.analysis.value ?? {}
  if (comparison === null) return null
  const isCompared = comparison !== 'failed'
  return (
    <>
      <p class="hint">
        {isCompared
          ? `${describeComparison(comparison)}${isWhole ? '' : ' so far'}`
          : 'Not compared with the stored plants: they are too many, or unreadable.'}
      </p>
      {isCompared && comparison.differing === 0 ? null : <Replace preview={preview} />}
      {isCompared && comparison.differing > 0 ? <Differences all={comparison.differences} /> : null}
    </>
  )
}
