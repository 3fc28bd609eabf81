import { expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { PATIENCE_MS, program, startDaemon, temporaryFolder } from './harness/daemon'
import { storedPlants } from './harness/plants'
import { until } from './harness/until'

setDefaultTimeout(PATIENCE_MS)

// Of the source these would be Bun's business, not the program's.
const isBuilt = Bun.env.TESTED_BINARY !== undefined && Bun.env.TESTED_BINARY !== ''

/** A folder whose files would change what Bun runs there. */
function hostileFolder() {
  const folder = temporaryFolder()
  const mark = `require('node:fs').writeFileSync(${JSON.stringify(folder.file('ran'))}, '')`
  const files = {
    '.env':
      'PLANTSTORE_PORT=1\nPLANTSTORE_DATABASE=env.db\nPLANTSTORE_MAX_BODY_BYTES=1\nPLANTSTORE_HOST=192.0.2.1',
    '.env.local': 'PLANTSTORE_TOKEN=token_of_the_folder',
    '.env.production': 'PLANTSTORE_DATABASE=production.db',
    '.env.development': 'PLANTSTORE_DATABASE=development.db',
    'bunfig.toml': 'preload = ["./preload.js"]\n[run]\npreload = ["./preload.js"]',
    'preload.js': mark,
    'tsconfig.json': '{"compilerOptions":{"paths":{"*":["./preload.js"]}}}',
    'package.json':
      '{"name":"hostile","type":"commonjs","imports":{"elysia":"./preload.js"},"main":"preload.js"}',
    'jsconfig.json': 'no JSON',
    'index.js': mark,
    'main.ts': mark,
    'writer-thread.ts': mark,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(folder.file(name), text)
  mkdirSync(folder.file('node_modules/elysia'), { recursive: true })
  writeFileSync(folder.file('node_modules/elysia/index.js'), mark)
  return { ...folder, names: readdirSync(folder.path) }
}

test.skipIf(!isBuilt)('reads no setting or module from the working folder', async () => {
  using folder = hostileFolder()
  const env = { PLANTSTORE_TOKEN: '' }
  await using daemon = await startDaemon({ cwd: folder.path, env })
  await until('the first token', () => daemon.out().includes('curl'))

  expect(daemon.url).toStartWith('http://127.0.0.1:')
  const [token] = /pst_[A-Za-z0-9_-]{43}/.exec(daemon.out()) ?? []
  const headers = { authorization: `Bearer ${token}` }
  const answer = await daemon.fetch('/plants', { json: { id: 1, name: 'Rose' }, headers })
  expect(answer.status).toBe(200)
  const theirs = { headers: { authorization: 'Bearer token_of_the_folder' } }
  expect((await daemon.fetch('/plants', theirs)).status).toBe(401)
  expect(await daemon.stop()).toBe(0)

  expect(existsSync(folder.file('ran'))).toBeFalse()
  expect(readdirSync(folder.path).sort()).toEqual([...folder.names, 'plants.db'].sort())
  expect(storedPlants(folder.file('plants.db'))).toEqual([{ id: 1n, name: 'Rose', tag: null }])
})

test.skipIf(!isBuilt)('runs as one file, anywhere and without an environment', async () => {
  using folder = temporaryFolder()
  const binary = folder.file('a plant store')
  cpSync(program[0] ?? '', binary)
  chmodSync(binary, 0o755)
  const run = (...args: string[]) =>
    Bun.spawnSync(['/usr/bin/env', '-i', binary, ...args], {
      cwd: folder.path,
      stdin: Buffer.from('id,name\n1,Rose\n'),
    })

  expect(run('--version').stdout.toString()).toStartWith('plantstore ')
  expect(run('import', '--format=csv', '-').exitCode).toBe(0)
  expect(run('token', 'create', 'first').stdout.toString()).toStartWith('pst_')
  expect(readdirSync(folder.path).sort()).toEqual(['a plant store', 'plants.db'])
})
