// Variables that Bun obeys before plantstore begins: they are documented, and unset where plantstore is deployed.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { builtPath, faultOf } from './harness/built'
import { builtProgram, PATIENCE_MS, root, runProgram } from './harness/daemon'

setDefaultTimeout(PATIENCE_MS)

const VARIABLES = ['BUN_BE_BUN', 'BUN_OPTIONS', 'BUN_INSPECT']
const read = (file: string) => readFileSync(join(root, file), 'utf8')

test.each(['deploy/plantstore.service', 'deploy/plantstore-forward@.service'])(
  "%s unsets Bun's variables",
  (unit) => {
    expect(read(unit)).toContain(`\nUnsetEnvironment=${VARIABLES.join(' ')}\n`)
  },
)

test("the image unsets Bun's variables, and hosting.md and SECURITY.md name them", () => {
  expect(read('Dockerfile')).toContain(`\nENV ${VARIABLES.map((it) => `${it}=`).join(' ')}\n`)
  for (const page of ['docs/hosting.md', 'SECURITY.md']) {
    for (const name of VARIABLES) expect(read(page)).toContain(`\`${name}\``)
  }
})

test.skipIf(faultOf(builtPath) !== null)('an empty variable counts as unset', async () => {
  const env = Object.fromEntries(VARIABLES.map((name) => [name, '']))
  const { out, code } = await runProgram(['version'], { env, program: builtProgram() })

  expect({ out, code }).toEqual({ out: expect.stringMatching(/^plantstore \d/), code: 0 })
})
