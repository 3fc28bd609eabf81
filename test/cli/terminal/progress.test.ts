import { expect, test } from 'bun:test'
import { layOut } from '../../../src/cli/terminal/progress'

const FACTS = ['45%', '123456 plants', '98765 plants/s', '1:23 left']

test('fits a line of progress into any terminal', () => {
  for (let columns = 3; columns < 200; columns++) {
    expect(layOut(0.45, FACTS, columns).length).toBeLessThanOrEqual(columns)
  }
})

test.each([
  [79, '[##############................] 45%  123456 plants  98765 plants/s  1:23 left'],
  [40, '[####....] 45%  123456 plants  1:23 left'],
  [29, '[#####.......] 45%  1:23 left'],
  [28, '[#####......] 45%  1:23 left'],
  [13, '[###....] 45%'],
  [5, '45%'],
])('leaves out the least important parts first: %d columns', (columns, line) => {
  expect(layOut(0.45, FACTS, columns)).toBe(line)
})

test('shows no bar if the total is unknown', () => {
  expect(layOut(null, ['', '12 plants', '3 plants/s', ''], 79)).toBe('12 plants  3 plants/s')
})
