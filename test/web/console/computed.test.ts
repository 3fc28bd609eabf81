// The console's computations before drawing: places of rows, figures of the metrics.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ChangeLogStats } from '../../../src/change-log/change-log'
import { createMetrics } from '../../../src/metrics'
import { byField } from '../../../src/web/console/editor/field-errors'
import { createP99, createRate, parseMetrics } from '../../../src/web/console/status/metrics-text'
import { extentOf, move, toScroll, toTop } from '../../../src/web/console/table/scroll-map'

const VIEW = 600
const ROW = 44
const stats = { problem: null, queued: 0, databaseBytes: 0, walBytes: 0, freeBytes: 0 }

describe('the places of rows', () => {
  const extents = fc.integer({ min: 20, max: 5_000_000 }).map((rows) => extentOf(rows, ROW, VIEW))

  test('no element is higher than every browser can have', () => {
    fc.assert(fc.property(extents, ({ track }) => track <= 17_000_000))
  })

  test('a place of the content and that of the scroll bar stand for each other', () => {
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

  test('a small move is of as many pixels as anywhere, a jump goes where the scroll bar stands', () => {
    const long = extentOf(1_000_000, ROW, VIEW)
    const top = 20_000_000
    const scroll = toScroll(top, long)

    expect(move(top, scroll, scroll + 100, long)).toBe(top + 100)
    expect(move(top, scroll, scroll - 100, long)).toBe(top - 100)
    expect(move(top, scroll, 2_000_000, long)).toBe(toTop(2_000_000, long))
    expect(move(300, 80, 0, long)).toBe(0)
  })
})

describe('the figures of the metrics', () => {
  test('are those that the daemon counted', () => {
    const metrics = createMetrics()
    const before = parseMetrics(metrics.render(stats), 1000)
    for (let count = 0; count < 100; count++) metrics.answered('POST', '/plants', 200, 4)
    metrics.answered('POST', '/plants/batch', 200, 90)
    metrics.answered('GET', '/plants', 200, 9000)
    metrics.created(1100)
    const after = parseMetrics(metrics.render(stats), 3000)

    expect(after.created).toBe(1100)
    expect(after.version).toBe('unknown')
    expect(createRate(before, after)).toBe(550)
    // Of 101, the hundredth is in the bucket from 2.5 to 5 ms.
    expect(createP99(before, after)).toBeCloseTo(0.005, 4)
    expect(createP99(after, after)).toBeNull()
  })

  test('say what is stored, waits, is free and failed; a refusal is no failure and has no latency', () => {
    const metrics = createMetrics()
    for (let count = 0; count < 100; count++) metrics.answered('POST', '/plants', 409, 9000)
    metrics.answered('POST', '/plants', 200, 4)
    metrics.answered('POST', '/plants', 507, 4)
    metrics.answered('GET', '/plants/:id', 503, 4)
    metrics.answered('GET', '/health', 503, 4)
    const kept = { unsentBytes: 0, followers: 0, files: null, changes: null, plants: 12 }
    const busy = { ...stats, queued: 3, freeBytes: 2e9 }
    const none = parseMetrics(createMetrics().render(stats), 0)
    const sample = parseMetrics(metrics.render(busy, kept), 0)

    expect(sample).toMatchObject({ plants: 12, queued: 3, freeBytes: 2e9, failed: 2 })
    expect(Math.abs(sample.startedAt - performance.timeOrigin)).toBeLessThan(1)
    expect(createP99(none, sample)).toBeLessThan(0.006)
    expect(parseMetrics(metrics.render({ ...busy, freeBytes: null }), 0)).toMatchObject({
      plants: undefined,
      freeBytes: undefined,
    })
  })

  test('say since when changes are recorded', () => {
    const since = (changeLog: ChangeLogStats | null) =>
      parseMetrics(createMetrics().render(stats, { changeLog }), 0).changesSince
    const oldestAt = 1_764_105_000_123

    expect(since(null)).toBeUndefined()
    expect(since({ entries: 0, keepMs: 0, oldestAt: null, bytes: 0 })).toBe(0)
    expect(since({ entries: 1, keepMs: 0, oldestAt, bytes: 9 })).toBe(oldestAt)
  })

  test('begin again when the daemon was restarted', () => {
    const metrics = createMetrics()
    metrics.created(5)
    const before = parseMetrics(metrics.render(stats), 0)
    const after = parseMetrics(createMetrics().render(stats), 1000)

    expect(createRate(before, after)).toBeNull()
  })
})

test.each([
  ['id: expected an integer from 1 to 2; name is missing', 40002, ['id', 'name']],
  ['tag: expected a string', 40002, ['tag']],
  ['the body: expected an object', 40002, ['form']],
  ['this id belongs to a different plant', 40902, ['id']],
  ['disk full; nothing was stored', 50701, ['form']],
])('the message %j belongs to the fields that it names', (message, error, fields) => {
  const errors = byField({ ok: false, error, status: Math.floor(error / 100), message })

  expect(Object.keys(errors).toSorted()).toEqual(fields)
  expect(Object.values(errors).join('; ')).toBe(message)
})
