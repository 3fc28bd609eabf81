import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { INT64_MAX, OPTIONAL_TEXTS } from '../../../plant/plant.ts'
import { sentenceOf } from '../../sentence.ts'
import { Modal } from '../controls/modal.tsx'
import { Select } from '../controls/select.tsx'
import { labelOf, TEXTS } from '../texts.ts'
import { type Analysis, type Problem, unusedColumns } from './analyze.ts'
import type { Preview } from './preview.ts'

const DELIMITERS: readonly (readonly [string, string])[] = [
  [',', 'Comma ,'],
  [';', 'Semicolon ;'],
  ['\t', 'Tab'],
  ['|', 'Vertical bar |'],
]

const UNICODE = 'utf-8'
const ENCODINGS: readonly (readonly [string, string])[] = [
  [UNICODE, 'Unicode (UTF-8)'],
  ['utf-16le', 'Unicode (UTF-16)'],
  ['windows-1252', 'Western European (Windows)'],
  ['macintosh', 'Western European (Macintosh)'],
  ['windows-1250', 'Central European (Windows)'],
  ['iso-8859-2', 'Central European (ISO 8859-2)'],
  ['windows-1251', 'Cyrillic (Windows)'],
  ['koi8-r', 'Cyrillic (KOI8-R)'],
  ['windows-1253', 'Greek (Windows)'],
  ['windows-1254', 'Turkish (Windows)'],
  ['windows-1255', 'Hebrew (Windows)'],
  ['windows-1256', 'Arabic (Windows)'],
  ['windows-1257', 'Baltic (Windows)'],
  ['windows-874', 'Thai (Windows)'],
  ['shift_jis', 'Japanese (Shift JIS)'],
  ['gb18030', 'Chinese, simplified (GB 18030)'],
  ['big5', 'Chinese, traditional (Big5)'],
  ['euc-kr', 'Korean (EUC-KR)'],
]

const NONE = ''
const toPlace = (value: string): number | null => (value === NONE ? null : Number(value))
const toValue = (place: number | null): string => (place === null ? NONE : String(place))

/** The columns to choose from; an unnamed one shows its first cell. */
function columnOptions({ opened }: Preview): (readonly [string, string])[] {
  const table = opened.value?.table
  const first = table?.sample[0]?.cells
  return (table?.header ?? []).map((text, place) => {
    const cell = Array.isArray(first) ? first[place] : null
    const example = typeof cell === 'string' ? ` (${cell.slice(0, 20)})` : ''
    return [String(place), text.trim() === '' ? `Column ${place + 1}${example}` : text.trim()]
  })
}

function Columns({ preview }: { readonly preview: Preview }) {
  const { columns: choice, choose } = preview
  const { id, name, numberFrom } = choice.value
  const columns = columnOptions(preview)
  const chooseName = (part: number, value: string) => {
    const place = toPlace(value)
    choose({ name: name.toSpliced(part, 1, ...(place === null ? [] : [place])) })
  }
  // One more than there are can be chosen.
  const further = columns.length > 1 && name.length > 0 ? [...name.keys()].map((at) => at + 1) : []
  return (
    <fieldset class="choices">
      <legend>Which column is which?</legend>
      <Select
        name="import-id"
        label="ID"
        value={toValue(id)}
        options={[[NONE, 'Number the rows'], ...columns]}
        onChoose={(value) => choose({ id: toPlace(value) })}
      />
      <Select
        name="import-name"
        label="Name"
        value={toValue(name[0] ?? null)}
        options={name.length === 0 ? [[NONE, 'Choose a column…'], ...columns] : columns}
        onChoose={(value) => chooseName(0, value)}
      />
      {OPTIONAL_TEXTS.map((text) => (
        <Select
          key={text}
          name={`import-${text}`}
          label={labelOf(text)}
          value={toValue(choice.value[text])}
          options={[[NONE, 'None'], ...columns]}
          onChoose={(value) => choose({ [text]: toPlace(value) })}
        />
      ))}
      {further.slice(0, columns.length - 1).map((part) => (
        <Select
          key={part}
          name={`import-name-${part}`}
          label={`Name, part ${part + 1}`}
          value={toValue(name[part] ?? null)}
          options={[[NONE, 'None'], ...columns]}
          onChoose={(value) => chooseName(part, value)}
        />
      ))}
      {id === null ? (
        <div class="field">
          <label for="import-from">Number the rows from</label>
          <input
            id="import-from"
            inputMode="numeric"
            autoComplete="off"
            value={numberFrom}
            aria-invalid={preview.input.value === null && name.length > 0}
            aria-describedby="import-from-note"
            onInput={(event) => choose({ numberFrom: event.currentTarget.value })}
          />
        </div>
      ) : null}
      {id === null ? (
        <p class="hint" id="import-from-note">
          The first row gets this ID, the next row the ID after it, and so on.
          {numberFrom === '' ? ` A whole number, up to ${INT64_MAX}.` : null}
        </p>
      ) : null}
    </fieldset>
  )
}

/** A row as it was typed; null: the first. */
const toRow = (text: string): number | null => {
  const row = Number(text)
  return Number.isSafeInteger(row) && row > 0 ? row : null
}

/** The detected settings, which are nearly always right. */
function Reading({ preview }: { readonly preview: Preview }) {
  const { format, lists, settings, opened, read } = preview
  const { encoding, hasHeader, headerRow } = settings.value
  const table = opened.value?.table
  const isText = format !== 'xlsx'
  const isTable = format === 'csv' || format === 'xlsx'
  const delimiter = settings.value.delimiter ?? table?.delimiter ?? ','
  const encodings = ENCODINGS.some(([it]) => it === encoding) || encoding === null
  return (
    <fieldset class="choices">
      <legend>How is the file read?</legend>
      {table && table.sheets.length > 1 ? (
        <Select
          name="import-sheet"
          label="Sheet"
          value={table.sheet ?? ''}
          options={table.sheets.map((it) => [it, it] as const)}
          onChoose={(sheet) => void read({ sheet })}
        />
      ) : null}
      {lists.length > 0 ? (
        <Select
          name="import-list"
          label="List"
          value={settings.value.list ?? ''}
          options={lists.map((it) => [it, it.includes('*') ? `All lists (${it})` : it] as const)}
          onChoose={(list) => void read({ list })}
        />
      ) : null}
      {format === 'csv' ? (
        <Select
          name="import-delimiter"
          label="Separator"
          value={delimiter}
          options={DELIMITERS}
          onChoose={(it) => void read({ delimiter: it })}
        />
      ) : null}
      {isText ? (
        <Select
          name="import-encoding"
          label="Encoding"
          value={encoding ?? UNICODE}
          options={encodings ? ENCODINGS : [[encoding, encoding], ...ENCODINGS]}
          onChoose={(it) => void read({ encoding: it === UNICODE ? null : it })}
        />
      ) : null}
      {isTable && hasHeader ? (
        <div class="field">
          <label for="import-header-row">Header row</label>
          <input
            id="import-header-row"
            inputMode="numeric"
            autoComplete="off"
            placeholder="the first"
            value={headerRow ?? ''}
            onChange={(event) => void read({ headerRow: toRow(event.currentTarget.value) })}
          />
        </div>
      ) : null}
      {isTable ? (
        <label class="check">
          <input
            type="checkbox"
            checked={hasHeader}
            onChange={(event) =>
              void read({ hasHeader: event.currentTarget.checked, headerRow: null })
            }
          />
          A row has the names of the columns
        </label>
      ) : null}
    </fieldset>
  )
}

/** The plants that would be created or replaced; null: not yet known. */
function countToImport({ analysis, input }: Preview): number | null {
  const found = analysis.value
  if (!found?.isWhole || input.value === null) return null
  const { compared, rows, refused } = found
  if (compared === null || typeof compared === 'string') return rows - refused
  return compared.created + (input.value.replaces ? compared.differing : 0)
}

const NOT_COMPARED = {
  'too many': 'Not compared with the stored plants, which are too many to read here.',
  unread: 'Not compared with the stored plants, which could not be read.',
} as const

type ReplaceProps = { readonly preview: Preview; readonly label: string }

function Replace({ preview: { replaces }, label }: ReplaceProps) {
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          checked={replaces.value}
          onChange={(event) => {
            replaces.value = event.currentTarget.checked
          }}
        />
        {label}
      </label>
      {replaces.value ? null : (
        <p class="hint">Otherwise refused: the stored plants stay as they are.</p>
      )}
    </>
  )
}

/** The stored plants beside those of the file, and the choice to replace them. */
function Stored({ preview }: { readonly preview: Preview }) {
  const { compared = null, isWhole } = preview.analysis.value ?? {}
  if (compared === null) return null
  if (typeof compared === 'string') {
    return (
      <>
        <p class="hint">{NOT_COMPARED[compared]}</p>
        <Replace preview={preview} label="Replace the plants that differ" />
      </>
    )
  }
  const { created, differing, unchanged } = compared
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
      {differing > 0 ? <Replace preview={preview} label={label} /> : null}
    </>
  )
}

/** The label of the button, with the number of plants once it is known. */
function labelOfImport(preview: Preview): string {
  const count = countToImport(preview)
  if (count === null || count === 0) return 'Import'
  return count === 1 ? 'Import 1 plant' : `Import ${count.toLocaleString()} plants`
}

const Absent = ({ children }: { readonly children: ComponentChildren }) => (
  <span class="hint">{children}</span>
)

function First({ first }: Pick<Analysis, 'first'>) {
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
        {first.map((plant) => (
          <tr key={plant}>
            <td class="id">{String(plant.id)}</td>
            {TEXTS.map((text) => (
              <td key={text}>
                {plant[text] === undefined ? (
                  <Absent>none</Absent>
                ) : plant[text] === '' ? (
                  <Absent>(empty)</Absent>
                ) : (
                  <bdi>{plant[text]}</bdi>
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const rowsOf = (count: number): string => (count === 1 ? '1 row' : `${count.toLocaleString()} rows`)

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

/** A preview of the result. */
function Outlook({ preview }: { readonly preview: Preview }) {
  const { analysis, input, columns } = preview
  const found = analysis.value
  if (!input.value) {
    return (
      <p class="hint">
        {columns.value.name.length === 0
          ? 'Choose the column that has the names of the plants.'
          : 'Type the ID of the first row, or choose a column for the ID.'}
      </p>
    )
  }
  if (!found) return <p class="hint">Reading…</p>
  const { first, rows, refused, problems, notRead, notices, isWhole } = found
  const unused = unusedColumns(input.value.opened.table, input.value.columns)
  return (
    <>
      {first.length > 0 ? <First first={first} /> : null}
      <p role="status">
        {isWhole ? rowsOf(rows) : `${rowsOf(rows)} so far; counting…`}
        {refused > 0 ? `; ${refused.toLocaleString()} of them would be refused:` : null}
      </p>
      {problems.length > 0 ? <Problems all={problems} more={refused - problems.length} /> : null}
      {notRead === null ? null : <p class="error">Not read: {notRead}</p>}
      {[...(unused === null ? [] : [unused]), ...notices].map((it) => (
        <p key={it} class="hint">
          {sentenceOf(it)}
        </p>
      ))}
    </>
  )
}

/** The questions about a file before its import, and a preview of the result. */
export function PreviewForm({ preview }: { readonly preview: Preview }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => heading.current?.focus(), [])
  const { file, opened, error, input } = preview
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
        <h2 ref={heading} tabIndex={-1}>
          Import <bdi>{file.name}</bdi>
        </h2>
        {preview.isRemembered ? (
          <p class="hint">Set as for the last file with these columns.</p>
        ) : null}
        {opened.value ? <Columns preview={preview} /> : null}
        {error.value === null ? (
          <>
            <Outlook preview={preview} />
            <Stored preview={preview} />
          </>
        ) : (
          <p class="error" role="alert">
            This does not work: {error.value}
          </p>
        )}
        <Reading preview={preview} />
        <div class="actions">
          <button type="submit" class="primary" aria-disabled={input.value === null || isNothing}>
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
