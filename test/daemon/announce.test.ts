// The first lines of a daemon on a terminal.
import { expect, test } from 'bun:test'
import { announce } from '../../src/daemon/announce'
import type { Store } from '../../src/store'

test.each([
  [true, ['this daemon is read-only\n']],
  [false, []],
])('says at its start whether it is read-only: %j', async (isReadOnly, lines) => {
  const written: string[] = []
  const facts = {
    address: { url: 'http://127.0.0.1:3000', unix: null },
    host: '127.0.0.1',
    database: 'plants.db',
    isReadOnly,
    hasConsole: false,
    isTerminal: true,
    isOnLogsTerminal: true,
    isNew: false,
    passwordFile: null,
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
