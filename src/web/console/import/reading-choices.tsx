import { Select } from '../controls/select.tsx'
import { beginningOf } from '../texts.ts'
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
  ['cp850', 'Western European (DOS)'],
  ['windows-1250', 'Central European (Windows)'],
  ['iso-8859-2', 'Central European (ISO 8859-2)'],
  ['cp852', 'Central European (DOS)'],
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

const CHOOSE_ENCODING = ['', 'Choose an encoding…'] as const

type PreviewProps = { readonly preview: Preview }

/** A row as it was typed; null for the first. */
const toRow = (text: string): number | null => {
  const row = Number(text)
  return Number.isSafeInteger(row) && row > 0 ? row : null
}

/** The sheet of a workbook, or the list of a JSON document, if it has several. */
function PartChoices({ preview: { settings, readable, read, detection } }: PreviewProps) {
  const { sheets = [], sheet } = readable.value?.table ?? {}
  return (
    <>
      {sheets.length > 1 ? (
        <Select
          name="import-sheet"
          label="Sheet"
          value={sheet ?? ''}
          options={sheets.map((name) => [name, name] as const)}
          onChoose={(sheet) => void read({ sheet })}
        />
      ) : null}
      {detection.lists.length > 0 ? (
        <Select
          name="import-list"
          label="List"
          value={settings.value.list ?? ''}
          options={detection.lists.map((path) => {
            const pathStart = beginningOf(path)
            return [path, path.includes('*') ? `All lists (${pathStart})` : pathStart] as const
          })}
          onChoose={(list) => void read({ list })}
        />
      ) : null}
    </>
  )
}

function TextChoice({
  id,
  label,
  placeholder,
  inputMode = 'text',
  value,
  onChoose,
}: {
  readonly id: string
  readonly label: string
  readonly placeholder: string
  readonly inputMode?: 'text' | 'numeric'
  readonly value: string
  readonly onChoose: (text: string) => void
}) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        autoComplete="off"
        inputMode={inputMode}
        placeholder={placeholder}
        value={value}
        onChange={(event) => onChoose(event.currentTarget.value)}
      />
    </div>
  )
}

/** Whether a row of a table has the names of its columns, and which. */
function HeaderChoices({ preview: { settings, read } }: PreviewProps) {
  const { header: hasHeader, headerRow } = settings.value
  return (
    <>
      {hasHeader ? (
        <TextChoice
          id="import-header-row"
          label="Header row"
          placeholder="the first"
          inputMode="numeric"
          value={String(headerRow ?? '')}
          onChoose={(text) => void read({ headerRow: toRow(text) })}
        />
      ) : null}
      <label class="check">
        <input
          type="checkbox"
          checked={hasHeader}
          onChange={(event) => void read({ header: event.currentTarget.checked, headerRow: null })}
        />
        A row has the names of the columns
      </label>
    </>
  )
}

/** The detected settings, which are nearly always right. */
export function ReadingChoices({ preview }: PreviewProps) {
  const { settings, readable, read } = preview
  const { problem } = preview.detection
  const { encoding } = settings.value
  const table = readable.value?.table
  const format = preview.format.value
  const needsEncoding = problem !== null && encoding === null
  const isText = format !== 'xlsx'
  const isTable = format === 'csv' || format === 'xlsx' || table?.isKeyed === false
  const delimiter = settings.value.delimiter ?? table?.delimiter ?? ','
  const isListed = encoding === null || ENCODINGS.some(([name]) => name === encoding)
  const other = isListed ? [] : [[encoding, encoding] as const]
  return (
    <fieldset class="choices">
      <legend>How is the file read?</legend>
      <PartChoices preview={preview} />
      {format === 'csv' ? (
        <Select
          name="import-delimiter"
          label="Separator"
          value={delimiter}
          options={DELIMITERS}
          onChoose={(delimiter) => void read({ delimiter })}
        />
      ) : null}
      {isText ? (
        <Select
          name="import-encoding"
          label="Encoding"
          value={needsEncoding ? '' : (encoding ?? UNICODE)}
          options={[...(needsEncoding ? [CHOOSE_ENCODING] : other), ...ENCODINGS]}
          onChoose={(name) => void read({ encoding: name === UNICODE ? null : name })}
        />
      ) : null}
      <TextChoice
        id="import-null"
        label="Text of empty cells"
        placeholder="none"
        value={settings.value.null?.[0] ?? ''}
        onChoose={(text) => void read({ null: text === '' ? null : [text] })}
      />
      {isTable ? <HeaderChoices preview={preview} /> : null}
    </fieldset>
  )
}
