import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { openFileCounter } from '../../../src/daemon/listening/open-files.ts'

test('counts as many open files as the kernel lists, below the limit', () => {
  const files = openFileCounter()()

  expect(files?.open).toBe(readdirSync('/proc/self/fd').length)
  expect(files?.limit).toBeGreaterThan(files?.open ?? 0)
})
