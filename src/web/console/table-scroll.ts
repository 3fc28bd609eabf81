// Which rows of the table are in view, and which one is active.

import { computed, effect, signal, untracked } from '@preact/signals'
import type { PlantList } from './plant-list.ts'
import { extentOf, move, toScroll } from './scroll-map.ts'

// Rows drawn above and below the view, for fast scrolling.
const SPARE_ROWS = 12
const IDLE_MS = 150

type Mark = { readonly id: bigint; readonly row: number }

export type TableScroll = ReturnType<typeof createTableScroll>

export function createTableScroll(list: PlantList) {
  const rowHeight = signal(44)
  const view = signal(0)
  /** The position in the content, in pixels. */
  const top = signal(0)
  /** The position of the scroll bar. */
  const scroll = signal(0)
  const active = signal(0)
  const isGoingToEnd = signal(false)
  let element: HTMLElement | undefined
  let idle = 0

  const { rows } = list
  const extent = computed(() => extentOf(rows.value, rowHeight.value, view.value))

  /** The rows to draw, and how far below the top of the track they start. */
  const drawn = computed(() => {
    const height = rowHeight.value
    const first = Math.max(0, Math.floor(top.value / height) - SPARE_ROWS)
    const end = Math.min(rows.value, Math.ceil((top.value + view.value) / height) + SPARE_ROWS)
    return { first, end, offset: first * height - top.value + scroll.value }
  })

  function setScroll(to: number): void {
    if (!element) return
    if (Math.abs(element.scrollTop - to) > 0.5) element.scrollTop = to
    scroll.value = element.scrollTop
  }

  /** True if the browser has scrolled and not told of it yet: that must not be undone. */
  const isScrolled = () => element !== undefined && element.scrollTop !== scroll.value

  function setTop(to: number): void {
    top.value = Math.max(0, Math.min(to, extent.value.content - view.value))
    setScroll(toScroll(top.value, extent.value))
  }

  function onScroll(): void {
    if (!element) return
    const to = element.scrollTop
    if (to < scroll.value) isGoingToEnd.value = false
    top.value = move(top.value, scroll.value, to, extent.value)
    scroll.value = to
    mark()
    clearTimeout(idle)
    // Small moves let the scroll bar drift from the position; this corrects it.
    idle = window.setTimeout(() => {
      if (!isScrolled()) setScroll(toScroll(top.value, extent.value))
    }, IDLE_MS)
  }

  function show(row: number): void {
    const above = row * rowHeight.value
    const below = above + rowHeight.value - view.value
    if (above < top.value) setTop(above)
    else if (below > top.value) setTop(below)
  }

  /** Makes a row the active one. */
  function point(row: number): void {
    active.value = Math.max(0, Math.min(row, rows.value - 1))
    activeMark = markOf(active.peek())
    gone = null
  }

  /** Makes a row the active one, and brings it into view. */
  function activate(row: number): void {
    point(row)
    show(active.value)
  }

  /** The first rows in view, and the one that was made active: they are followed if others come or go above. */
  let marks: readonly Mark[] = []
  let activeMark: Mark | null = null
  /** The plant that was active until it was deleted, and is again if that is undone. */
  let gone: bigint | null = null

  const markOf = (row: number): Mark | null => {
    const id = list.row(row)?.id
    return id === undefined ? null : { id, row }
  }

  const moveOf = ({ id, row }: Mark): number => {
    const now = list.rowOf(id)
    return now < 0 ? 0 : now - row
  }

  function mark(): void {
    const first = Math.ceil(top.peek() / rowHeight.peek())
    marks = [markOf(first), markOf(first + 1)].filter((it) => it !== null)
  }

  function followActive(): void {
    if (!activeMark) return
    const back = gone === null ? -1 : list.rowOf(gone)
    const now = back >= 0 ? back : list.rowOf(activeMark.id)
    if (now < 0) gone ??= activeMark.id
    else if (back >= 0) gone = null
    active.value = Math.max(0, Math.min(now < 0 ? active.peek() : now, rows.peek() - 1))
    activeMark = markOf(active.peek()) ?? activeMark
  }

  /** Follows the rows in view after others came or went above; not one that moved alone, as a renamed one does. */
  function holdView(): void {
    const by = marks[0] ? moveOf(marks[0]) : 0
    followActive()
    if (by !== 0 && top.peek() > 0 && marks.every((it) => moveOf(it) === by) && !isScrolled()) {
      setTop(top.peek() + by * rowHeight.peek())
    }
    mark()
  }

  function goToEnd(): void {
    isGoingToEnd.value = list.row(rows.value - 1) === undefined
    activate(rows.value - 1)
    setTop(extent.value.content)
  }

  /** Follows the scrolling element and a probe as high as a row. Call the result to stop. */
  function attach(scroller: HTMLElement, probe: HTMLElement): () => void {
    element = scroller
    const sizes = new ResizeObserver(() => {
      // After Disconnect they are gone, and on paper they are hidden: they measure 0.
      if (probe.offsetHeight === 0) return
      const row = Math.floor(top.value / rowHeight.value)
      const isTaller = probe.offsetHeight !== rowHeight.value
      rowHeight.value = probe.offsetHeight
      view.value = scroller.clientHeight
      if (isTaller) setTop(row * rowHeight.value)
    })
    sizes.observe(scroller)
    sizes.observe(probe)
    const stop = effect(() => {
      const { first, end } = drawn.value
      list.version.value
      const isToEnd = isGoingToEnd.value
      untracked(() => list.want(first, end, isToEnd))
    })
    const stopHolding = effect(() => {
      list.version.value
      untracked(holdView)
    })
    const stopResetting = effect(() => {
      list.query.value
      list.sort.value
      untracked(reset)
    })
    // When the height of the content changes, so does the scroll bar for the same position.
    const stopFollowing = effect(() => {
      const { content } = extent.value
      list.version.value
      const isFollowed = isGoingToEnd.peek()
      queueMicrotask(() => {
        if (isScrolled()) return
        setTop(isFollowed ? content : top.peek())
        if (!isFollowed) return
        point(rows.value - 1)
        if (list.row(rows.value - 1)) isGoingToEnd.value = false
      })
    })
    return () => {
      sizes.disconnect()
      for (const it of [stop, stopHolding, stopResetting, stopFollowing]) it()
    }
  }

  /** Goes back to the first row. */
  function reset(): void {
    isGoingToEnd.value = false
    active.value = 0
    marks = []
    activeMark = null
    gone = null
    setTop(0)
  }

  const pageRows = () => Math.max(1, Math.floor(view.value / rowHeight.value) - 1)

  /** Handles a key that moves the active row; false for any other key. */
  function onKey(key: string): boolean {
    const moves: Readonly<Record<string, () => void>> = {
      ArrowDown: () => activate(active.value + 1),
      ArrowUp: () => activate(active.value - 1),
      PageDown: () => activate(active.value + pageRows()),
      PageUp: () => activate(active.value - pageRows()),
      Home: () => activate(0),
      End: goToEnd,
    }
    const go = moves[key]
    if (!go) return false
    if (key !== 'End') isGoingToEnd.value = false
    go()
    return true
  }

  return {
    rowHeight,
    extent,
    drawn,
    active,
    isGoingToEnd,
    attach,
    onScroll,
    point,
    activate,
    onKey,
  }
}
