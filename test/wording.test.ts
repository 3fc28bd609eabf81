// Sentences that were replaced by plainer ones do not come back.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './harness/daemon'

/** Each with the one that took its place. */
const REPLACED: Readonly<Record<string, string>> = {
  'What is no HTTP': 'malformed HTTP is rejected by the parser',
  'for want of memory': 'survives the OOM killer',
  'will not do': 'is not supported',
  'there is no command': 'unknown command',
  'text that is not empty': 'must not be empty',
  'say whether it is as it should be': "verify the database's integrity",
  'in the place of what': 'replace it',
  'that does not let go of it': 'locked by another program',
  'cannot be listened on': 'cannot resolve host',
  'knows 2 at the most': 'written by a newer plantstore; upgrade',
  'nothing behind it was read': 'the rest of the file was not read',
  'too much waits': 'the write queue is full',
  'the storage fails; nothing': 'cannot write to the database; nothing was stored',
  'least level to log': 'minimum log level',
  'go on with what happens': 'keep printing new changes',
  'log of changes': 'change log',
  'not as many fields as the header has': '14 fields; the header has 12',
  'Whoever ': 'users, clients, processes',
  'in which nobody else is served': 'which blocks the event loop',
  'older than is kept': 'older than the retention period',
  'too many long answers': 'too many large responses',
  'or none, in the path': 'or be left out',
  'passed-over': 'ignored',
  'looks like a flag is no value': "a flag cannot be another flag's value",
  'mend them, then': 'fix them, then run',
  'nothing stored; it would be': 'dry run; would create',
  'as they would be stored:': 'preview:',
  'without its leading zeros': 'leading zeros are dropped',
  'came and went': 'changed while it was being checked',
  'cannot hand the port over': 'this kernel does not support port sharing',
  'to name a file so': 'prefix a file name with ./',
  'to do without it, add': 'to bypass it, add',
  'write a name such as =A1': 'prefix formulas with an apostrophe',
  'tokens that ended at least': 'tokens inactive for at least',
  'the first row is data; give': 'no header row; refer to columns by number',
  'default: found out': 'auto-detected',
  'Cannot be read so': 'This does not work',
  'no spreadsheet runs as a formula': 'safe to open in a spreadsheet',
  'mended and imported alone': 'ready to fix and import again',
  'Plant store': 'plantstore',
}

const files = ['README.md', 'SECURITY.md', 'docs/*.md', 'src/**/*.{ts,tsx}'].flatMap((pattern) => [
  ...new Bun.Glob(pattern).scanSync(root),
])

test('sentences that were replaced do not come back', () => {
  const found = files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8').replace(/\s*\n\s*(?:\/\/|\*)?\s*/g, ' ')
    return Object.entries(REPLACED)
      .filter(([sentence]) => text.includes(sentence))
      .map(([sentence, better]) => `${file}: "${sentence}"; better: ${better}`)
  })

  expect(files.length).toBeGreaterThan(300)
  expect(found).toEqual([])
})
