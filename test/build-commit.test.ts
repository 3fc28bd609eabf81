import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commitOf } from '../build-commit'
import packageJson from '../package.json'
import { PATIENCE_MS, root, startDaemon, temporaryFolder } from './harness/daemon'
import { run } from './harness/process'

setDefaultTimeout(PATIENCE_MS)

const hasGit = Bun.which('git') !== null
const isBuilt = Bun.env.TESTED_BINARY !== undefined && Bun.env.TESTED_BINARY !== ''
const identity = { GIT_AUTHOR_NAME: 'Rose', GIT_COMMITTER_NAME: 'Rose', EMAIL: 'rose@example.org' }

async function git(folder: string, ...args: string[]): Promise<string> {
  const { out, err, code } = await run(['git', '-C', folder, ...args], {
    env: { ...process.env, ...identity },
  })
  if (code !== 0) throw new Error(err)
  return out.trim()
}

test.skipIf(!hasGit)(
  'a build names the commit of its folder, and whether files differ',
  async () => {
    using folder = temporaryFolder()
    await git(folder.path, 'init', '-q')
    writeFileSync(folder.file('a'), 'committed')
    await git(folder.path, 'add', 'a')
    await git(folder.path, 'commit', '-qm', 'first')
    const head = await git(folder.path, 'rev-parse', 'HEAD')

    expect(commitOf(folder.path)).toBe(head.slice(0, 12))
    writeFileSync(folder.file('a'), 'changed')
    expect(commitOf(folder.path)).toBe(`${head.slice(0, 12)}-dirty`)

    // An archive that was unpacked inside a repository.
    mkdirSync(folder.file('archive'))
    expect(commitOf(folder.file('archive'))).toBe('unknown')
  },
)

test.skipIf(!hasGit || !existsSync(join(root, '.git')))(
  'the version of a clone names its commit',
  async () => {
    using folder = temporaryFolder()
    symlinkSync(process.execPath, folder.file('bun'))
    const env = { PATH: `${folder.path}:${Bun.env.PATH}` }
    const words = ['bun', 'run', '--silent', 'plantstore', '--version']
    const { out, err } = await run(words, { cwd: root, env })

    expect({ out, err }).toEqual({
      out: `plantstore ${packageJson.version} (commit ${commitOf(root)})\n`,
      err: '',
    })
  },
)

test.skipIf(!isBuilt)('the first line of the log and a metric name the commit', async () => {
  using folder = temporaryFolder()
  await using daemon = await startDaemon({ database: folder.file('plants.db') })
  const { commit } = await daemon.event('listening')
  const metrics = await (await daemon.fetch('/metrics')).text()

  expect(daemon.events()[0]).toHaveProperty('commit', commit)
  expect(metrics).toContain(`,commit="${commit}",`)
  const built = String(commit).replace('-dirty', '')
  if (hasGit && built !== 'unknown') {
    expect(await git(root, 'cat-file', '-t', built)).toBe('commit')
  }
})
