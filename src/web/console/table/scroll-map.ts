// Maps rows to the scroll bar. Browsers limit the height of an element, so it may be shorter than all rows together.

// The limit is 17.9 million pixels in Firefox, 33.5 million in Chromium and Safari.
const MAX_TRACK_PX = 10_000_000
// A scroll event that moves further is a jump: the scroll bar was dragged, or a key pressed.
const JUMP_VIEWS = 2

/** Heights in pixels: of all rows, of the visible part, and of the element that is scrolled. */
type Extent = { readonly content: number; readonly view: number; readonly track: number }

export const extentOf = (rows: number, rowHeight: number, view: number): Extent => {
  const content = rows * rowHeight
  return { content, view, track: Math.min(content, MAX_TRACK_PX) }
}

const clamp = (value: number, max: number): number => Math.max(0, Math.min(value, max))

/** The scroll position for a position in the content. */
export function toScroll(top: number, { content, view, track }: Extent): number {
  if (content <= track) return clamp(top, content - view)
  return clamp((top / (content - view)) * (track - view), track - view)
}

/** The position in the content for a scroll position. */
export function toTop(scroll: number, { content, view, track }: Extent): number {
  if (content <= track) return clamp(scroll, content - view)
  return clamp((scroll / (track - view)) * (content - view), content - view)
}

/**
 * The position in the content after the scroll bar has moved. Small moves scroll the content by the same number of
 * pixels, so that wheel and touch feel normal. Both ends can always be reached.
 */
export function moveContent(top: number, from: number, to: number, extent: Extent): number {
  const { content, view, track } = extent
  if (to === from) return top
  if (content <= track) return toTop(to, extent)
  const isEnd = to <= 0 || to >= track - view - 1
  if (isEnd || Math.abs(to - from) > view * JUMP_VIEWS) return toTop(to, extent)
  return clamp(top + to - from, content - view)
}
