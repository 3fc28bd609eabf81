// Where a row is, though no element may be as high as all rows together.

// Firefox ends at 17.9 million pixels, Chromium and Safari at 33.5 million.
const HIGHEST_PX = 10_000_000
// A scroll event that moves further is a jump: of the scroll bar, or of a key.
const JUMP_VIEWS = 2

/** What there is to scroll, in pixels: all rows, the part of them that is seen, and the element that stands for all. */
export type Extent = { readonly content: number; readonly view: number; readonly track: number }

export const extentOf = (rows: number, rowHeight: number, view: number): Extent => {
  const content = rows * rowHeight
  return { content, view, track: Math.min(content, HIGHEST_PX) }
}

const clamp = (value: number, most: number): number => Math.max(0, Math.min(value, most))

/** Where the scroll bar stands for a place in the content. */
export function toScroll(top: number, { content, view, track }: Extent): number {
  if (content <= track) return clamp(top, content - view)
  return clamp((top / (content - view)) * (track - view), track - view)
}

/** The place in the content that a place of the scroll bar stands for. */
export function toTop(scroll: number, { content, view, track }: Extent): number {
  if (content <= track) return clamp(scroll, content - view)
  return clamp((scroll / (track - view)) * (content - view), content - view)
}

/**
 * The place in the content after the scroll bar moved. Small moves are of so many pixels of content, so that a wheel and
 * a finger feel as they do everywhere; the ends are always reached.
 */
export function move(top: number, from: number, to: number, extent: Extent): number {
  const { content, view, track } = extent
  if (to === from) return top
  if (content <= track) return toTop(to, extent)
  const isEnd = to <= 0 || to >= track - view - 1
  if (isEnd || Math.abs(to - from) > view * JUMP_VIEWS) return toTop(to, extent)
  return clamp(top + to - from, content - view)
}
