// biome-ignore-all lint/a11y/useSemanticElements: a <table> cannot hold a million rows; the roles are the same.
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus, and points to the active row.
// biome-ignore-all lint/a11y/useAriaPropsSupportedByRole: Biome does not see that this is a row.
import type { ComponentChildren, HTMLAttributes } from 'preact'
import type { NewPlant } from '../../../client/client.ts'
import { TagChip } from '../controls/tag-chip.tsx'
import type { Selection } from '../list/selection.ts'
import { beginningOf, OTHER_TEXTS, type TextName } from '../texts.ts'
import type { CellEditing } from './cell-editing.ts'

export type RowActions = {
  /** Opens the page of a plant, or its form. */
  readonly onOpen: (plant: NewPlant, isForm: boolean) => void
  readonly onDelete: (plants: readonly NewPlant[]) => void
  readonly onTag: (tag: string) => void
}

type PlantRowProps = RowActions & {
  readonly plant: NewPlant
  readonly row: number
  readonly isActive: boolean
  /** True if the panel beside the table shows it. */
  readonly isOpen: boolean
  /** True if it was just created here. */
  readonly isAdded: boolean
  readonly selection: Selection
  /** Null if no cell can be edited. */
  readonly cells: CellEditing | null
}

/** A DOM id by plant: a screen reader speaks the active row when another plant takes its place. */
export const rowId = (plant: NewPlant | undefined, row: number): string =>
  plant ? `plant-${plant.id}` : `row-${row}`
export const cellId = (plant: NewPlant, text: TextName): string => `${rowId(plant, 0)}-${text}`

// Row 1 is the head.
const attributesOf = (plant: NewPlant | undefined, row: number, isActive: boolean) =>
  ({
    class: 'row',
    role: 'row',
    id: rowId(plant, row),
    'aria-rowindex': row + 2,
    'data-active': isActive ? '' : undefined,
    tabIndex: -1,
  }) as const

type ActionProps = {
  readonly label: string
  readonly variant?: string
  readonly tabIndex: number
  readonly onClick: (event: MouseEvent) => void
  readonly children: ComponentChildren
}

const Action = ({ label, variant = '', ...props }: ActionProps) => (
  <button type="button" class={`quiet ${variant}`} aria-label={label} {...props} />
)

function Actions({
  plant,
  tabIndex,
  selection,
  onOpen,
  onDelete,
}: PlantRowProps & { readonly tabIndex: number }) {
  const { id } = plant
  const open = (
    <Action
      label={`Open plant ${id}`}
      variant="open"
      tabIndex={tabIndex}
      onClick={() => onOpen(plant, false)}
    >
      ›
    </Action>
  )
  return (
    <span role="gridcell" class="row-actions">
      {open}
      {selection.list.session.isReadOnly.value ? null : (
        <>
          <Action
            label={`Edit plant ${id}`}
            tabIndex={tabIndex}
            onClick={() => onOpen(plant, true)}
          >
            Edit
          </Action>
          <Action
            label={`Delete plant ${id}`}
            variant="danger"
            tabIndex={tabIndex}
            onClick={({ detail }) => {
              // The second click of a double click would hit the next row.
              if (detail <= 1) onDelete([plant])
            }}
          >
            Delete
          </Action>
        </>
      )}
    </span>
  )
}

type TextCellProps = Pick<PlantRowProps, 'plant' | 'row' | 'isActive' | 'cells'> &
  Pick<HTMLAttributes, 'dir' | 'title'> & {
    readonly text: TextName
    readonly className: string
    readonly children: ComponentChildren
  }

/** A text of a plant, or the field that edits it. */
function TextCell(allProps: TextCellProps) {
  const { plant, row, isActive, cells, text, className, children, ...props } = allProps
  const isActiveCell = isActive && cells?.column.value === text
  const mark = cells?.saveStateOf(plant, text)
  return (
    <span
      role="gridcell"
      id={cellId(plant, text)}
      class={isActiveCell ? `${className} active` : className}
      data-text={text}
      data-unsaved={mark ?? undefined}
      data-chosen={cells?.isInRange(row, text) ? '' : undefined}
      aria-invalid={mark === 'refused' ? true : undefined}
      aria-label={plant[text] === undefined ? `no ${text}` : undefined}
      {...props}
      {...(mark === 'refused' ? { title: 'Not saved: edit it to see why' } : {})}
    >
      {cells?.fieldOf(plant, text) ?? children}
    </span>
  )
}

export function PlantRow(props: PlantRowProps) {
  const { plant, row, isActive, isOpen, isAdded, selection, cells, onTag } = props
  const isReadOnly = selection.list.session.isReadOnly.value
  const { id, name, tag } = plant
  const tabIndex = isActive ? 0 : -1
  const cell = { plant, row, isActive, cells }
  return (
    <div
      {...attributesOf(plant, row, isActive)}
      class={isAdded ? 'row added' : 'row'}
      // Without the names of its box and buttons.
      aria-label={`${id}, ${name === '' ? 'no name' : name}, ${tag ?? 'no tag'}`}
      data-row={row}
      aria-selected={isReadOnly ? undefined : selection.has(id)}
      aria-current={isOpen ? 'true' : undefined}
    >
      {isReadOnly ? null : (
        <span role="gridcell">
          <label class="box">
            <input
              type="checkbox"
              aria-label={`Select ${id}`}
              tabIndex={tabIndex}
              checked={selection.has(id)}
              onClick={({ shiftKey }) => selection.toggle(plant, shiftKey)}
            />
          </label>
        </span>
      )}
      <span role="gridcell" class="id" aria-readonly={cells ? true : undefined}>
        {String(id)}
      </span>
      <TextCell {...cell} text="name" className="name" dir="auto" title={beginningOf(name)}>
        {name === '' ? <i>no name</i> : beginningOf(name)}
      </TextCell>
      <TextCell {...cell} text="tag" className="tag">
        {tag === undefined ? null : (
          <TagChip
            tag={tag}
            tabIndex={tabIndex}
            onClick={(event) => {
              const act = () => onTag(tag)
              if (cells) cells.onClick(event, act)
              else act()
            }}
          />
        )}
      </TextCell>
      {OTHER_TEXTS.map((text) => (
        <TextCell
          key={text}
          {...cell}
          text={text}
          className="text"
          dir="auto"
          title={beginningOf(plant[text] ?? '')}
        >
          {beginningOf(plant[text] ?? '')}
        </TextCell>
      ))}
      <Actions {...props} tabIndex={tabIndex} />
    </div>
  )
}
