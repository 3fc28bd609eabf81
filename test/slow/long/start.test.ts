// The first command of the README: from a clone to a daemon, with nothing but Node.js and npm.
import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { appendFileSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import packageJson from '../../../package.json'
import { listening } from '../../harness/daemon'
import { ownFolder } from '../../harness/own-folder'
import { run, startProcess } from '../../harness/process'
import { copySource } from '../../harness/source-copy'

setDefaultTimeout(300_000)

const folder = ownFolder()
const clone = folder.file('my plants')
// timeout(1) passes a signal on to all of its children, npx does not.
const BUN = ['timeout', '250', 'npx', '--yes', packageJson.packageManager]
// A program that a package installs, such as bun, is no program of this machine.
const path = (Bun.env.PATH ?? '')
  .split(':')
  .filter((it) => !it.includes('node_modules') && !it.includes('bun-node'))
  .join(':')

beforeAll(() => copySource(clone))

test.each(['start', 'test'])(
  'bun run %s ends at once on another system than Linux',
  async (name) => {
    const preload = folder.file('macos.ts')
    writeFileSync(preload, "Object.defineProperty(process, 'platform', { value: 'darwin' })")
    const env = { ...process.env, BUN_OPTIONS: `--preload=${preload}` }

    const { out, err, code } = await run([process.execPath, 'run', name], { cwd: clone, env })

    expect({ out, code }).toEqual({ out: '', code: 1 })
    expect(err).toStartWith('plantstore runs on Linux only; elsewhere use the container: ')
    expect(existsSync(join(clone, 'node_modules'))).toBeFalse()
  },
)

test('bun run start says that it installs packages, and why it cannot', async () => {
  const env = {
    ...process.env,
    BUN_CONFIG_REGISTRY: 'http://127.0.0.1:1/',
    BUN_INSTALL_CACHE_DIR: folder.file('empty'),
  }
  const { out, err, code } = await run([process.execPath, 'run', 'start'], { cwd: clone, env })

  expect(code).toBe(1)
  // A firewall that drops packets keeps Bun waiting in silence.
  expect(out).toStartWith('installing packages\n')
  expect(out + err).toContain('ConnectionRefused downloading')
})

test('bun run start serves, as an ordinary user who has only Node.js and npm', async () => {
  const env = {
    ...process.env,
    PATH: path,
    PLANTSTORE_PORT: '0',
    PLANTSTORE_TOKEN: 'test_0123456789abcdef',
    PLANTSTORE_DATABASE: folder.file('plants.db'),
  }
  const start = () => startProcess([...BUN, 'run', 'start'], { cwd: clone, env })
  {
    await using child = start()
    const daemon = await listening(child, env.PLANTSTORE_TOKEN, 240_000)
    const page = await fetch(daemon.url)
    expect(await page.text()).toContain('<html')
    expect(child.out()).toContain('building the pages')
    await child.stop()
  }
  await using again = start()
  await listening(again, env.PLANTSTORE_TOKEN)
  expect(again.out()).not.toContain('building')
  await again.stop()
})

test('the pages are built again if the source or a built file has changed, and only then', async () => {
  const build = async () =>
    (await run([process.execPath, 'build-pages.ts'], { cwd: clone })).out.includes('building')
  const web = join(clone, 'dist/web')

  expect(await build()).toBeFalse()
  appendFileSync(join(clone, 'src/web/console/style.css'), '.new { color: red }\n')
  expect([await build(), await build()]).toEqual([true, false])
  rmSync(join(web, 'console/main.js.br'))
  expect([await build(), await build()]).toEqual([true, false])
  appendFileSync(join(web, 'docs/main.js.gz'), 'damaged')
  expect([await build(), await build()]).toEqual([true, false])
  rmSync(join(web, 'pages.js'))
  expect([await build(), await build()]).toEqual([true, false])
})
