import { sentenceOf } from '../../sentence.ts'
import { TextValue } from '../controls/text-value.tsx'
import { countRows } from '../counts.ts'
import { labelOf, TEXTS } from '../texts.ts'
import { type Analysis, type Problem, unusedColumns } from './analyze.ts'
import type { Preview } from './preview.ts'

function Examples({ examples }: Pick<Analysis, 'examples'>) {
  return (
    <table>
      <caption>Preview</caption>
      <thead>
        <tr>
          <th scope="col">ID</th>
          {TEXTS.map((text) => (
            <th key={text} scope="col">
              {labelOf(text)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {examples.map((plant) => (
          <tr key={plant}>
            <td class="id">{String(plant.id)}</td>
            {TEXTS.map((text) => (
              <td key={text}>
                <TextValue text={plant[text]} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const Problems = ({ all, more }: { readonly all: readonly Problem[]; readonly more: number }) => (
  <ul class="refused" aria-label="First problems">
    {all.map(({ line, problem }) => (
      <li key={line}>
        <b>Line {line}</b> {problem}
      </li>
    ))}
    {more > 0 ? <li>And {more.toLocaleString()} more</li> : null}
  </ul>
)

/** Shows the first plants, and the problems of a file, before its import. */
export function ResultPreview({ preview }: { readonly preview: Preview }) {
  const { analysis, input, columns } = preview
  const latest = analysis.value
  if (!input.value) {
    return (
      <p class="hint">
        {columns.value.name.length === 0
          ? 'Choose the column that has the names of the plants.'
          : 'Type the ID of the first row, or choose a column for the ID.'}
      </p>
    )
  }
  if (!latest) return <p class="hint">Reading…</p>
  const { examples, rows, refused, problems, unreadReason, notices, isWhole } = latest
  const count = isWhole ? countRows(rows) : `${countRows(rows)} so far; counting…`
  const summary =
    refused > 0 ? `${count}; ${refused.toLocaleString()} of them would be refused:` : count
  const unusedNotice = unusedColumns(input.value.readable.table, input.value.columns)
  return (
    <>
      {examples.length > 0 ? <Examples examples={examples} /> : null}
      <p role="status">
        <span key={summary}>{summary}</span>
      </p>
      {problems.length > 0 ? <Problems all={problems} more={refused - problems.length} /> : null}
      {unreadReason === null ? null : <p class="error">Not read: {unreadReason}</p>}
      {[...(unusedNotice === null ? [] : [unusedNotice]), ...notices].map((notice) => (
        <p key={notice} class="hint">
          {sentenceOf(notice)}
        </p>
      ))}
    </>
  )
}
