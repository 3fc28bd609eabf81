// Runs every command of CONTRIBUTING.md in a copy of the source.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import packageJson from '../../../package.json'
import { root } from '../../harness/daemon'
import { run, startProcess } from '../../harness/process'
import { copySource } from '../../harness/source-copy'

// One of them is a suite.
setDefaultTimeout(600_000)

const page = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
const ci = ['.ci/run', '.ci/all'].map((name) => readFileSync(join(root, name), 'utf8')).join('')
const scripts: Readonly<Record<string, string>> = packageJson.scripts
const [, block = ''] = /```sh\n(.*?)```/s.exec(page) ?? []
const lines = block.split('\n').map((line) => line.replace(/ +# .*/, ''))
const others = [...page.matchAll(/`((?:bun|npx|bash) [^`]+)`/g)].map(([, command = '']) => command)
const commands = [...lines.filter(Boolean), ...others]

const isDaemon = (command: string) => / (start|serve) /.test(command)
/** The suites that CI runs, and CI itself. */
const isSuite = (command: string) =>
  /^bun run (test:(?!quick)|check)|^bash \.ci\/(run|all)/.test(command)
const isProgram = (command: string) => command.startsWith('npx ')

let folder = ''
const options = () => ({
  cwd: join(folder, 'clone'),
  env: {
    ...process.env,
    TESTED_BINARY: undefined,
    PATH: `${join(folder, 'bin')}:${Bun.env.PATH}`,
  },
})
/** The command, with the database of the page in a folder of its own, and few mutants. */
const own = (command: string) => [
  'sh',
  '-c',
  command.replaceAll('/tmp/', `${folder}/`).replace(/mutation.*/, '$& --sample 1'),
]

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'plantstore-contributing-'))
  copySource(join(folder, 'clone'))
  mkdirSync(join(folder, 'bin'))
  symlinkSync(process.execPath, join(folder, 'bin/bun'))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('the page has commands of every kind', () => {
  for (const is of [isDaemon, isSuite, isProgram]) expect(commands.some(is)).toBeTrue()
})

const isPlain = (it: string) => !isDaemon(it) && !isSuite(it) && !isProgram(it)

test.each(commands.filter(isPlain))('%s ends well', async (command) => {
  const { out, err, code } = await run(own(command), options())

  expect({ code, failed: (out + err).match(/^\(fail\).*|^error: .*/gm) }).toEqual({
    code: 0,
    failed: null,
  })
})

test.each(commands.filter(isDaemon))('%s starts the daemon, or its debugger', async (command) => {
  // timeout(1) passes a signal on to all of its children, bun run does not.
  await using child = startProcess(own(`exec timeout 60 ${command} --port 0`), options())
  const findAddress = () =>
    /^console: (\S+)\n|ws:\/\/localhost:\d+/m.exec(child.out() + child.err())

  expect(await child.prints(() => findAddress() !== null)).toBeTrue()
  const [, console] = findAddress() ?? []
  if (console !== undefined) expect(await (await fetch(console)).text()).toContain('<html')
  await child.stop()
})

test.each(commands.filter(isProgram))('%s has the Bun of package.json', (command) => {
  expect(command).toBe(`npx --yes ${packageJson.packageManager}`)
})

test.each(commands.filter(isSuite))('%s is a script that CI runs', (command) => {
  const [, , name = ''] = /^(bun run|bash) (\S+)/.exec(command) ?? []
  const suite = scripts[name]?.split(' ').at(-1) ?? 'none'
  const isRun = ci.includes(`run ${name}`) || ci.includes(suite) || existsSync(join(root, name))

  expect(isRun).toBeTrue()
})
