import { beforeAll } from 'bun:test'
import { updatePages } from '../../build-pages'

/**
 * Builds the pages before the first test of the file, for a daemon that is started after it; an executable has its own.
 */
export const ownPages = (): void =>
  beforeAll(async () => {
    if (!Bun.env.TESTED_BINARY) await updatePages()
  }, 60_000)
