// `bun test` on a fresh clone: setup.ts installs the packages, and the tests see them at the first run.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { PATIENCE_MS, root, temporaryFolder } from './harness/daemon'

setDefaultTimeout(PATIENCE_MS)

const PASSING = `import 'elysia'; import { test } from 'bun:test'; test('passes', () => {})`
const FAILING = `import { test } from 'bun:test'; test('fails', () => { throw 0 })`

/** A clone without its packages, with two tests of its own. */
async function freshClone() {
  const folder = temporaryFolder()
  for (const name of ['package.json', 'bun.lock', 'bunfig.toml', 'test/setup.ts']) {
    cpSync(join(root, name), folder.file(name))
  }
  await Bun.write(folder.file('test/passing.test.ts'), PASSING)
  await Bun.write(folder.file('test/failing.test.ts'), FAILING)
  return folder
}

/** Runs `bun test` there; returns its exit code and what it printed. */
function bunTest(folder: string, ...args: readonly string[]) {
  const { BUN_TEST_WORKER_ID: _, ...env } = process.env
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, 'test', ...args], {
    cwd: folder,
    env,
  })
  return { code: exitCode, text: stderr.toString() }
}

test('bun test on a fresh clone finds the packages that it has just installed', async () => {
  using clone = await freshClone()

  const { code, text } = bunTest(clone.path, 'test/passing.test.ts')

  expect({ code, text }).toMatchObject({ code: 0, text: expect.stringContaining('1 pass') })
  expect(existsSync(clone.file('node_modules/elysia'))).toBeTrue()
})

test('bun test on a fresh clone runs only the named tests, and fails where they fail', async () => {
  using clone = await freshClone()

  const { code, text } = bunTest(clone.path, 'test/failing.test.ts')

  expect({ code, text }).toMatchObject({ code: 1, text: expect.stringContaining('1 fail') })
  expect(text).toContain('across 1 file')
})
