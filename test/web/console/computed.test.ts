// The console's computations before drawing: places of rows.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { errorsByField } from '../../../src/web/console/editor/field-errors'
import { idAfter } from '../../../src/web/console/int64'
import { extentOf, moveContent, toScroll, toTop } from '../../../src/web/console/table/scroll-map'

const VIEW = 600
const ROW = 44

describe('in the scrolled table', () => {
  const extents = fc.integer({ min: 20, max: 5_000_000 }).map((rows) => extentOf(rows, ROW, VIEW))

  test('no element is higher than every browser allows', () => {
    fc.assert(fc.property(extents, ({ track }) => track <= 17_000_000))
  })

  test('a place in the content and its place on the scroll bar convert into each other', () => {
    fc.assert(
      fc.property(extents, fc.double({ min: 0, max: 1, noNaN: true }), (extent, share) => {
        const top = share * (extent.content - VIEW)
        expect(toTop(toScroll(top, extent), extent)).toBeCloseTo(top, 2)
      }),
    )
    const long = extentOf(1_000_000, ROW, VIEW)
    expect(toScroll(0, long)).toBe(0)
    expect(toScroll(long.content, long)).toBe(long.track - VIEW)
    expect(toTop(long.track - VIEW, long)).toBe(long.content - VIEW)
  })

  test('a small move is as many pixels as anywhere, and a jump follows the scroll bar', () => {
    const long = extentOf(1_000_000, ROW, VIEW)
    const top = 20_000_000
    const scroll = toScroll(top, long)

    expect(moveContent(top, scroll, scroll + 100, long)).toBe(top + 100)
    expect(moveContent(top, scroll, scroll - 100, long)).toBe(top - 100)
    expect(moveContent(top, scroll, 2_000_000, long)).toBe(toTop(2_000_000, long))
    expect(moveContent(300, 80, 0, long)).toBe(0)
  })
})

test.each([
  ['nothing', [], 1n],
  ['a negative id', [-5n], 1n],
  ['several ids', [3n, 7n, -1n], 8n],
  ['the largest id', [2n ** 63n - 1n], null],
])('the next free id after %s', (_, ids, next) => {
  expect(idAfter(ids)).toBe(next)
})

test.each([
  ['id: expected an integer from 1 to 2; name is missing', 40002, ['id', 'name']],
  ['tag: expected a string', 40002, ['tag']],
  ['the body: expected an object', 40002, ['form']],
  ['this id belongs to a different plant', 40902, ['id']],
  ['disk full; nothing was stored', 50701, ['form']],
])('the message %j belongs to the fields that it names', (message, error, fields) => {
  const errors = errorsByField({ ok: false, error, status: Math.floor(error / 100), message })

  expect(Object.keys(errors).toSorted()).toEqual(fields)
  expect(Object.values(errors).join('; ')).toBe(message)
})
