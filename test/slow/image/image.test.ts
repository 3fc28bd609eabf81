// The images of the repository and of a release, built and started.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { root, temporaryFolder } from '../../harness/daemon'
import { executable, has, released, sh } from '../release/lab'
import { findEngine, tryImage } from './engine'

// A build installs packages, and may make the images that it begins with.
setDefaultTimeout(900_000)

const repository = readFileSync(join(root, 'Dockerfile'), 'utf8')
const engine = await findEngine(repository)
// A command that builds and tries the Dockerfile of its working folder, for machines without an image registry. It
// needs root.
const check = resolve(root, Bun.env.IMAGE_CHECK || 'no-image-check')
// Installed here, where suites that run side by side take turns.
const canCheck = existsSync(check) && (await has('buildah', 'debootstrap', 'jq', 'curl'))
const canBuild = engine !== null || canCheck
if (!canBuild) console.log('skipped: needs docker or podman with an image registry')
const hasRelease = existsSync(released('SHA256SUMS'))
if (!hasRelease) console.log('skipped: needs a release: bun run release')

async function tryContext(folder: string): Promise<void> {
  if (engine) return await tryImage(engine, folder)
  // It finds the daemon by its name, so it must see no other.
  const apart = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc']
  expect(await sh([...apart, 'sh', '-c', 'cd "$0" && exec "$1"', folder, check])).toContain(
    'came back on its volume',
  )
}

test.skipIf(!canBuild)('the image of the repository keeps a plant through a restart', () =>
  tryContext(root),
)

test.skipIf(!canBuild || !hasRelease)(
  'the image of a release, from its own files alone, keeps a plant through a restart',
  async () => {
    using folder = temporaryFolder()
    const target = process.arch === 'x64' ? 'x64' : 'arm64'
    const files = [executable(target), ...['Dockerfile', 'compose.yaml'].map(released)]
    for (const file of files) copyFileSync(file, folder.file(file.slice(released('').length)))
    const compose = Bun.YAML.parse(readFileSync(folder.file('compose.yaml'), 'utf8'))
    expect(compose).toMatchObject({ services: { plantstore: { build: '.' } } })
    await tryContext(folder.path)
  },
)
