import { OPTIONAL_TEXTS } from '../../../plant/plant.ts'
import { Check } from '../controls/check.tsx'
import { Differences } from './differences.tsx'
import type { Preview } from './preview.ts'

const NOT_COMPARED = {
  'too many': 'Not compared with the stored plants, which are too many to read here.',
  unread: 'Not compared with the stored plants, which could not be read.',
} as const

type ReplaceProps = { readonly preview: Preview; readonly label: string }

function Replace({ preview: { replaces }, label }: ReplaceProps) {
  return (
    <>
      <Check label={label} isChecked={replaces} />
      {replaces.value ? null : (
        <p class="hint">Otherwise refused: the stored plants stay as they are.</p>
      )}
    </>
  )
}

/** The texts that a replacement leaves as they are. */
function UnchangedTexts({ preview: { columns } }: Pick<ReplaceProps, 'preview'>) {
  const unchangedTexts = OPTIONAL_TEXTS.filter((text) => columns.value[text] === null)
  if (unchangedTexts.length === 0) return null
  return (
    <p class="hint">
      Stored plants keep their {unchangedTexts.join(' and ')}: no column of the file has{' '}
      {unchangedTexts.length === 1 ? 'it' : 'them'}.
    </p>
  )
}

/** The comparison with the stored plants, and the choice to replace them. */
export function ReplaceChoice({ preview }: { readonly preview: Preview }) {
  const { comparison = null, isWhole } = preview.analysis.value ?? {}
  if (comparison === null) return null
  if (typeof comparison === 'string') {
    return (
      <>
        <p class="hint">{NOT_COMPARED[comparison]}</p>
        <Replace preview={preview} label="Replace the plants that differ" />
        <UnchangedTexts preview={preview} />
      </>
    )
  }
  const { created, differing, unchanged, differences } = comparison
  const count = differing.toLocaleString()
  const label =
    differing === 1 ? 'Replace the one that differs' : `Replace the ${count} that differ`
  return (
    <>
      <p class="compared">
        {created.toLocaleString()} new, {count} {differing === 1 ? 'differs' : 'differ'},{' '}
        {unchanged.toLocaleString()} unchanged
        {isWhole ? null : ' so far'}
      </p>
      {differing > 0 ? (
        <>
          <Replace preview={preview} label={label} />
          <UnchangedTexts preview={preview} />
          <Differences all={differences} />
        </>
      ) : null}
    </>
  )
}
