import { expect, test } from 'bun:test'
import { parseDuration } from '../../src/config/duration'

test.each([
  ['1s', 1000],
  ['90m', 5_400_000],
  ['12h', 43_200_000],
  ['90d', 7_776_000_000],
  ['2w', 1_209_600_000],
  ['1y', 31_536_000_000],
  ['1000y', 31_536_000_000_000],
])('the text %s is a duration', (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds)
})

test.each([
  '',
  '90',
  'd',
  '0d',
  '-1d',
  '1.5d',
  '1 d',
  '1D',
  '1d1h',
  '1000000d',
  '1001y',
  '999999y',
  ' 1d',
  '1e3s',
])('the text %j is not a duration', (text) => {
  expect(parseDuration(text)).toBeNull()
})
