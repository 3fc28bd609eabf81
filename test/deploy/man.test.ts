// The manual page that a release has.
import { expect, test } from 'bun:test'
import { manualPage } from '../../deploy/man'

const page = await manualPage(Date.UTC(2026, 0, 31) / 1000)

test('the manual page has every command and option, and its date', () => {
  expect(page).toStartWith('.TH PLANTSTORE 1 "2026-01-31" "plantstore ')
  for (const word of ['serve', 'completion', 'PLANTSTORE_TOKEN_FILE', '\\-\\-max\\-body\\-bytes']) {
    expect(page).toContain(word)
  }
  expect(page).toContain('postgres://USER@HOST/NAME')
  expect(page).toContain('PLANTSTORE_DATABASE_PASSWORD_FILE')
  expect(page).toContain('(default: 3000; PLANTSTORE_PORT)')
  for (const section of ['EXIT STATUS', 'ENVIRONMENT', 'FILES', 'EXAMPLES', 'SEE ALSO']) {
    expect(page).toContain(`\n.SH ${section}\n`)
  }
  for (const code of [130, 143]) expect(page).toContain(`\n.B ${code}\n`)
  // Of a flag that switches something off, the default would read as if it were on.
  expect(page).not.toContain('default: true')
})

test.skipIf(Bun.which('groff') === null)('groff formats the manual page without a warning', () => {
  const groff = ['groff', '-man', '-Tutf8', '-ww', '-P-cbu']
  const { stdout, stderr } = Bun.spawnSync(groff, { stdin: new Blob([page]) })

  expect(stderr.toString()).toBe('')
  expect(stdout.toString()).toContain('--max-body-bytes')
})
