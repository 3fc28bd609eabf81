import { INT64_MAX, OPTIONAL_TEXTS } from '../../../plant/plant.ts'
import { Select } from '../controls/select.tsx'
import { beginningOf, labelOf } from '../texts.ts'
import type { Preview } from './preview.ts'

const NONE = ''
const toColumn = (value: string): number | null => (value === NONE ? null : Number(value))
const toValue = (column: number | null): string => (column === null ? NONE : String(column))

/** The columns to choose from; an unnamed one shows its first cell. */
function columnOptions({ readable }: Preview): (readonly [string, string])[] {
  const table = readable.value?.table
  const first = table?.sample[0]?.cells
  return (table?.header ?? []).map((text, column) => {
    const cell = Array.isArray(first) ? first[column] : null
    const example = typeof cell === 'string' ? ` (${cell.slice(0, 20)})` : ''
    return [String(column), beginningOf(text.trim()) || `Column ${column + 1}${example}`]
  })
}

/** The columns that a plant is read from. */
export function ColumnChoices({ preview }: { readonly preview: Preview }) {
  const { columns: choice, choose } = preview
  const { id, name, numberFrom } = choice.value
  const columns = columnOptions(preview)
  const chooseName = (part: number, value: string) => {
    const column = toColumn(value)
    choose({ name: name.toSpliced(part, 1, ...(column === null ? [] : [column])) })
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
        onChoose={(value) => choose({ id: toColumn(value) })}
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
          onChoose={(value) => choose({ [text]: toColumn(value) })}
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
        <>
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
          <p class="hint" id="import-from-note">
            The first row gets this ID, the next row the ID after it, and so on.
            {numberFrom === '' ? ` A whole number, up to ${INT64_MAX}.` : null}
          </p>
        </>
      ) : null}
    </fieldset>
  )
}
