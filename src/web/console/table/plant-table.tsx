// biome-ignore-all lint/a11y/useSemanticElements: a <table> cannot hold a million rows; the roles are the same.
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus, and points to the active row.
// biome-ignore-all lint/a11y/useKeyWithClickEvents: Enter opens the active row, as the grid has the focus.
import type { ButtonHTMLAttributes } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { hideAttributes, Menu } from '../controls/menu.tsx'
import type { PlantList } from '../list/plant-list.ts'
import type { Selection } from '../list/selection.ts'
import { SORT_KEYS, type SortKey } from '../sort.ts'
import { labelOf, OTHER_TEXTS } from '../texts.ts'
import type { CellEditing } from './cell-editing.ts'
import { cellId, PlantRow, type RowActions, rowId } from './plant-row.tsx'
import { onTableKey } from './table-keys.ts'
import type { TableScroll } from './table-scroll.ts'

type ColumnProps = { readonly list: PlantList; readonly by: SortKey }

const headingOf = (by: SortKey): string => (by === 'id' ? 'ID' : labelOf(by))

const Arrow = ({ list, by }: ColumnProps) => {
  const { by: now, isDescending } = list.sort.value
  return (
    <span class="arrow" aria-hidden="true">
      {now !== by ? '' : isDescending ? '↓' : '↑'}
    </span>
  )
}

/** Sorts by a column; pressed again, it reverses the order. */
function SortButton({ list, by, ...attributes }: ColumnProps & ButtonHTMLAttributes) {
  const heading = headingOf(by)
  return (
    <button
      type="button"
      class="quiet"
      title={`Sort by ${heading}`}
      aria-disabled={by !== 'id' && list.rows.isTooLong.value}
      onClick={() => void list.sortBy(by)}
      {...attributes}
    >
      {heading}
      <Arrow list={list} by={by} />
    </button>
  )
}

function Column({ list, by }: ColumnProps) {
  const { by: now, isDescending } = list.sort.value
  return (
    <span
      role="columnheader"
      aria-sort={now !== by ? undefined : isDescending ? 'descending' : 'ascending'}
    >
      <SortButton list={list} by={by} />
    </span>
  )
}

const ORDERS = 'orders'

/** The orders in a menu, where a row has two lines and no columns. */
function OrderMenu({ list }: { readonly list: PlantList }) {
  const { by: now } = list.sort.value
  return (
    <div role="columnheader" class="orders">
      <Menu
        id={ORDERS}
        label={
          <>
            Sorted by {headingOf(now)}
            <Arrow list={list} by={now} />
          </>
        }
      >
        {SORT_KEYS.map((by) => (
          <SortButton
            key={by}
            list={list}
            by={by}
            aria-pressed={by === now}
            {...hideAttributes(ORDERS)}
          />
        ))}
      </Menu>
    </div>
  )
}

const OTHER_COLUMNS =
  OTHER_TEXTS.length > 0 ? { '--others': `repeat(${OTHER_TEXTS.length}, minmax(0, 10rem))` } : {}

const Head = ({ selection, selection: { list } }: { readonly selection: Selection }) => (
  <div class="head row" role="row" aria-rowindex={1} tabIndex={-1}>
    {list.session.isReadOnly.value ? null : (
      <span role="columnheader">
        <label class="box">
          <input
            type="checkbox"
            aria-label="Select all"
            checked={selection.hasAll}
            indeterminate={selection.size > 0 && !selection.hasAll}
            aria-busy={selection.isReading.value}
            onClick={(event) => {
              // The box follows the selection, which takes a while to read.
              event.preventDefault()
              if (selection.hasAll) selection.clear()
              else void selection.addAll()
            }}
          />
        </label>
      </span>
    )}
    {SORT_KEYS.map((by) => (
      <Column key={by} list={list} by={by} />
    ))}
    <OrderMenu list={list} />
    <span role="columnheader">
      <span class="visually-hidden">Actions</span>
    </span>
  </div>
)

type TableProps = RowActions & {
  readonly scroll: TableScroll
  readonly openId: bigint | null
  readonly selection: Selection
  /** Null if no cell can be edited. */
  readonly cells: CellEditing | null
}

/** The row that an event is in; undefined outside of rows. */
function rowOf({ target }: Event): number | undefined {
  const row = target instanceof Element ? target.closest('[data-row]') : null
  return row instanceof HTMLElement ? Number(row.dataset.row) : undefined
}

/** The rows in view, in an element as high as all of them. */
function Body(props: TableProps) {
  const { scroll, openId, selection, cells, ...actions } = props
  const { list } = scroll
  const scroller = useRef<HTMLDivElement>(null)
  const probe = useRef<HTMLDivElement>(null)
  const track = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (scroller.current && probe.current && track.current)
      return scroll.attach(scroller.current, probe.current, track.current)
  }, [scroll])
  list.rows.version.value
  const { first, end, offset } = scroll.position.drawnRows.value
  const active = scroll.active.row.value
  const rows = Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index)
  return (
    <div
      class="scroller"
      role="rowgroup"
      ref={scroller}
      tabIndex={-1}
      onScroll={scroll.onScroll}
      onPointerDown={(event) => {
        const row = rowOf(event)
        cells?.onPress(event)
        if (row !== undefined && !event.shiftKey) scroll.active.set(row)
      }}
      onPointerMove={cells?.onDrag}
      onPointerUp={cells?.onDrag}
      onMouseDown={(event) => {
        // Shift extends the chosen cells or rows, and marks no text.
        if (event.shiftKey) event.preventDefault()
      }}
      onClick={(event) => {
        const plant = list.rows.row(rowOf(event) ?? -1)
        const isControl = event.target instanceof Element && event.target.closest('button, label')
        // Text that was selected with the mouse is to be copied.
        if (!plant || isControl || getSelection()?.isCollapsed === false) return
        const open = () => actions.onOpen(plant, false)
        if (cells) cells.onClick(event, open)
        else open()
      }}
    >
      <div class="row probe" ref={probe} aria-hidden="true" />
      <div class="track" role="presentation" ref={track}>
        <div class="rows" role="presentation" style={{ top: `${offset}px` }}>
          {rows.map((row) => {
            const plant = list.rows.row(row)
            if (!plant) return null
            return (
              <PlantRow
                key={String(plant.id)}
                row={row}
                plant={plant}
                isActive={row === active}
                isOpen={plant.id === openId}
                isAdded={plant.id === list.createdId.value}
                selection={selection}
                cells={cells}
                {...actions}
              />
            )
          })}
        </div>
      </div>
    </div>
  )
}

// Beside longer ids a phone has no room for names.
const SHORT_DIGITS = 8

const gridClass = (isReadOnly: boolean, digits: number): string =>
  ['grid', isReadOnly ? '' : 'boxes', digits > SHORT_DIGITS ? 'long-ids' : ''].join(' ')

/** The table of plants. Only the rows in view are in the document. */
export function PlantTable(props: TableProps) {
  const { scroll, selection, cells } = props
  const { list } = scroll
  const isReadOnly = list.session.isReadOnly.value
  /** The length of the longest id so far. It never shrinks, so that the columns stay in place. */
  const digits = useRef(0)
  list.rows.version.value
  const { first, end } = scroll.position.drawnRows.value
  const active = scroll.active.row.value
  const isDrawn = active >= first && active < end && list.rows.count.value > 0
  const plant = list.rows.row(active)
  const column = plant && cells?.column.value
  for (let row = first; row < end; row++) {
    digits.current = Math.max(digits.current, String(list.rows.row(row)?.id ?? '').length)
  }
  return (
    <div
      class={gridClass(isReadOnly, digits.current)}
      style={{ '--id': `${digits.current}ch`, ...OTHER_COLUMNS }}
      role="grid"
      aria-label="Plants"
      aria-rowcount={list.rows.isComplete.value ? list.rows.count.value + 1 : -1}
      aria-colcount={(isReadOnly ? 4 : 5) + OTHER_TEXTS.length}
      aria-readonly={isReadOnly}
      aria-multiselectable={!isReadOnly}
      aria-activedescendant={
        isDrawn ? (column ? cellId(plant, column) : rowId(plant, active)) : undefined
      }
      tabIndex={0}
      onKeyDown={(event) => {
        if (onTableKey(event, props)) event.preventDefault()
      }}
    >
      <Head selection={selection} />
      <Body {...props} />
    </div>
  )
}
