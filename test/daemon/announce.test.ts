// The first lines of a daemon on a terminal.
import { expect, test } from 'bun:test'
import { type Config, parseConfig } from '../../src/config/config'
import { DAEMON_OPTIONS } from '../../src/config/options'
import { announce } from '../../src/daemon/announce'
import type { Store } from '../../src/store'

test.each([
  [true, ['this daemon is read-only\n']],
  [false, []],
])('says at its start whether it is read-only: %j', async (isReadOnly, lines) => {
  const written: string[] = []
  const env = { PLANTSTORE_READ_ONLY: String(isReadOnly), PLANTSTORE_CONSOLE: 'false' }
  const facts = {
    config: parseConfig([], DAEMON_OPTIONS, env)?.config as Config,
    address: { url: 'http://127.0.0.1:3000', unix: null },
    place: { name: 'plants.db', isNew: false },
    logsToTerminal: true,
    printsToTerminal: true,
    needsToken: false,
    isDiscarded: false,
    needsTrust: false,
  }
  const out = {
    write: (text: string) => void written.push(text),
    flush: async () => true,
    droppedLines: () => 0,
  }

  await announce({} as Store, facts, out, () => {})

  expect(written.slice(1)).toEqual(lines)
})
