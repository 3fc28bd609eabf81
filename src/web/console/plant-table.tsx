// biome-ignore-all lint/a11y/useSemanticElements: a <table> cannot hold a million rows; the roles are the same.
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus, and points to the active row.
// biome-ignore-all lint/a11y/useKeyWithClickEvents: Enter opens the active row, as the grid has the focus.
// biome-ignore-all lint/a11y/useAriaPropsSupportedByRole: Biome does not see that this is a row.
import { useEffect, useRef } from 'preact/hooks'
import type { NewPlant } from '../../client/client.ts'
import type { PlantList } from './plant-list.ts'
import type { Selection } from './selection.ts'
import type { SortKey } from './sort.ts'
import type { TableScroll } from './table-scroll.ts'
import { labelOf, OTHER_TEXTS } from './texts.ts'

export type RowActions = {
  /** Opens the page of a plant, or its form. */
  readonly onOpen: (plant: NewPlant, isForm: boolean) => void
  readonly onDelete: (plants: readonly NewPlant[]) => void
  readonly onTag: (tag: string) => void
  readonly onUndo: () => void
}

type RowProps = RowActions & {
  readonly plant: NewPlant | undefined
  readonly at: number
  readonly isActive: boolean
  /** True if the panel beside the table shows it. */
  readonly isOpen: boolean
  readonly isReadOnly: boolean
  readonly selection: Selection
}

const rowId = (at: number): string => `row-${at}`

function Row({
  plant,
  at,
  isActive,
  isOpen,
  isReadOnly,
  selection,
  onOpen,
  onDelete,
  onTag,
}: RowProps) {
  // Row 1 is the head.
  const common = { class: 'row', role: 'row', id: rowId(at), 'aria-rowindex': at + 2 } as const
  if (!plant) {
    return (
      <div {...common} aria-selected={isActive} tabIndex={-1}>
        <span role="gridcell" class="waiting">
          Loading…
        </span>
      </div>
    )
  }
  const { id, name, tag } = plant
  const tabIndex = isActive ? 0 : -1
  return (
    <div
      {...common}
      data-row={at}
      aria-selected={isActive}
      aria-current={isOpen ? 'true' : undefined}
      tabIndex={-1}
    >
      {isReadOnly ? null : (
        <span role="gridcell">
          <label class="box">
            <input
              type="checkbox"
              aria-label={`Select ${id}`}
              tabIndex={tabIndex}
              checked={selection.ids.value.has(id)}
              onClick={({ shiftKey }) => selection.toggle(plant, shiftKey)}
            />
          </label>
        </span>
      )}
      <span role="gridcell" class="id">
        {String(id)}
      </span>
      <span role="gridcell" class="name" dir="auto" title={name}>
        {name === '' ? <i>no name</i> : name}
      </span>
      <span role="gridcell" class="tag">
        {tag === undefined ? null : (
          <button
            type="button"
            class="chip"
            dir="auto"
            tabIndex={tabIndex}
            title="Show only plants with this tag"
            onClick={() => onTag(tag)}
          >
            {tag === '' ? '(empty)' : tag}
          </button>
        )}
      </span>
      {OTHER_TEXTS.map((text) => (
        <span key={text} role="gridcell" class="text" dir="auto" title={plant[text]}>
          {plant[text]}
        </span>
      ))}
      <span role="gridcell" class="row-actions">
        <button
          type="button"
          class="quiet open"
          tabIndex={tabIndex}
          aria-label={`Open plant ${id}`}
          onClick={() => onOpen(plant, false)}
        >
          ›
        </button>
        {isReadOnly ? null : (
          <button
            type="button"
            class="quiet"
            tabIndex={tabIndex}
            aria-label={`Edit plant ${id}`}
            onClick={() => onOpen(plant, true)}
          >
            Edit
          </button>
        )}
        {isReadOnly ? null : (
          <button
            type="button"
            class="quiet danger"
            tabIndex={tabIndex}
            aria-label={`Delete plant ${id}`}
            onClick={({ detail }) => {
              // The second click of a double click would hit the next row.
              if (detail <= 1) onDelete([plant])
            }}
          >
            Delete
          </button>
        )}
      </span>
    </div>
  )
}

type ColumnProps = { readonly list: PlantList; readonly by: SortKey; readonly label: string }

/** The head of a column, which sorts by it. */
function Column({ list, by, label }: ColumnProps) {
  const { by: now, isDescending } = list.sort.value
  const isTooLong = by !== 'id' && list.isTooLong.value
  const why = isTooLong ? list.tooLong(by) : undefined
  return (
    <span
      role="columnheader"
      aria-sort={now !== by ? undefined : isDescending ? 'descending' : 'ascending'}
    >
      <button
        type="button"
        class="quiet"
        title={why ?? `Sort by ${label}`}
        aria-disabled={isTooLong}
        aria-description={why}
        onClick={() => void list.sortBy(by)}
      >
        {label}
        <span class="arrow" aria-hidden="true">
          {now !== by ? '' : isDescending ? '↓' : '↑'}
        </span>
      </button>
    </span>
  )
}

const OTHER_COLUMNS =
  OTHER_TEXTS.length > 0 ? { '--others': `repeat(${OTHER_TEXTS.length}, minmax(0, 10rem))` } : {}

type TableProps = RowActions & {
  readonly list: PlantList
  readonly scroll: TableScroll
  readonly isReadOnly: boolean
  readonly openId: bigint | null
  readonly selection: Selection
}

/** The table of plants. Only the rows in view are in the document. */
export function PlantTable({
  list,
  scroll,
  isReadOnly,
  openId,
  selection,
  ...actions
}: TableProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const probe = useRef<HTMLDivElement>(null)
  /** Of the longest id so far, so that the columns do not move to and fro. */
  const digits = useRef(0)
  useEffect(() => {
    if (scroller.current && probe.current) return scroll.attach(scroller.current, probe.current)
  }, [scroll])
  list.version.value
  const { first, end, offset } = scroll.drawn.value
  const active = scroll.active.value
  const isDrawn = active >= first && active < end && list.rows.value > 0

  function onKeyDown(event: KeyboardEvent): void {
    const plant = list.row(active)
    const isUndo = event.key === 'z' && (event.ctrlKey || event.metaKey)
    const isInControl =
      event.target instanceof HTMLButtonElement || event.target instanceof HTMLInputElement
    if (event.ctrlKey || event.metaKey || event.altKey) {
      if (!isUndo) return
      actions.onUndo()
    } else if (event.key === 'Delete' && plant && !isReadOnly) {
      const selected = selection.plants()
      actions.onDelete(selected.length > 0 ? selected : [plant])
    } else if (event.key === ' ' && plant && !isReadOnly && !isInControl) {
      selection.toggle(plant, event.shiftKey)
    } else if (event.key === 'Enter' && plant && !isInControl) {
      actions.onOpen(plant, false)
    } else if (event.key === 'F2' && plant && !isReadOnly) {
      actions.onOpen(plant, true)
    } else if (!scroll.onKey(event.key)) return
    event.preventDefault()
  }

  /** The row of the table that an event is in; undefined outside of rows. */
  const rowOf = ({ target }: Event): number | undefined => {
    const row = target instanceof Element ? target.closest('[data-row]') : null
    return row instanceof HTMLElement ? Number(row.dataset.row) : undefined
  }

  const rows = Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index)
  for (const at of rows)
    digits.current = Math.max(digits.current, String(list.row(at)?.id ?? '').length)
  return (
    <div
      class={isReadOnly ? 'grid' : 'grid boxes'}
      style={{ '--id': `${digits.current}ch`, ...OTHER_COLUMNS }}
      role="grid"
      aria-label="Plants"
      aria-rowcount={list.isComplete.value ? list.rows.value + 1 : -1}
      aria-colcount={(isReadOnly ? 4 : 5) + OTHER_TEXTS.length}
      aria-readonly={isReadOnly}
      aria-activedescendant={isDrawn ? rowId(active) : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <div class="head row" role="row" aria-rowindex={1} tabIndex={-1}>
        {isReadOnly ? null : (
          <span role="columnheader" class="visually-hidden">
            Select
          </span>
        )}
        <Column list={list} by="id" label="ID" />
        <Column list={list} by="name" label="Name" />
        <Column list={list} by="tag" label="Tag" />
        {OTHER_TEXTS.map((text) => (
          <Column key={text} list={list} by={text} label={labelOf(text)} />
        ))}
        <span role="columnheader">
          <span class="visually-hidden">Actions</span>
        </span>
      </div>
      <div
        class="scroller"
        role="rowgroup"
        ref={scroller}
        tabIndex={-1}
        onScroll={scroll.onScroll}
        onPointerDown={(event) => {
          const at = rowOf(event)
          if (at !== undefined) scroll.point(at)
        }}
        onClick={(event) => {
          const plant = list.row(rowOf(event) ?? -1)
          const isControl = event.target instanceof Element && event.target.closest('button, label')
          // Text that was marked with the mouse is to be copied.
          if (plant && !isControl && getSelection()?.isCollapsed !== false) {
            actions.onOpen(plant, false)
          }
        }}
      >
        <div class="row probe" ref={probe} aria-hidden="true" />
        <div class="track" role="presentation" style={{ height: `${scroll.extent.value.track}px` }}>
          <div class="rows" role="presentation" style={{ top: `${offset}px` }}>
            {rows.map((at) => {
              const plant = list.row(at)
              return (
                <Row
                  key={at}
                  at={at}
                  plant={plant}
                  isActive={at === active}
                  isOpen={plant !== undefined && plant.id === openId}
                  isReadOnly={isReadOnly}
                  selection={selection}
                  {...actions}
                />
              )
            })}
          </div>
        </div>
      </div>
    </div>
  )
}
