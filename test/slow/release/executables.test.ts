// The executables for other processors and C libraries, run by emulators: a plant survives kill -9.
import { setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../harness/daemon'
import { ownFolder } from '../../harness/own-folder'
import { debianMirror, executable, expectToSurviveKill, has, sh } from './lab'

const arm64 = '/usr/aarch64-linux-gnu'
const hasArm64 = await has('qemu-aarch64-static', `${arm64}/lib/ld-linux-aarch64.so.1`)
const hasX64 = process.arch === 'x64' && (await has('qemu-x86_64-static'))

// The CPU of a Raspberry Pi 3.
const emulated = ['qemu-aarch64-static', '-cpu', 'cortex-a53', '-L']

test.skipIf(!hasArm64)('arm64 keeps a plant through kill -9', async () => {
  using folder = temporaryFolder()
  const program = [...emulated, arm64, executable('arm64')]
  await expectToSurviveKill(program, folder.file('plants.db'))
})

// Nehalem (2008) has SSE 4.2, and no AVX.
test.skipIf(!hasX64)('x64 keeps a plant through kill -9 on a CPU without AVX', async () => {
  using folder = temporaryFolder()
  const program = ['qemu-x86_64-static', '-cpu', 'Nehalem', executable('x64')]
  await expectToSurviveKill(program, folder.file('plants.db'))
})

const folder = ownFolder()
setDefaultTimeout(300_000)

/** Debian's package of musl, for any architecture, without a change to what apt knows here. */
async function downloadMusl(to: string, architecture: string): Promise<void> {
  const apt = join(to, 'apt')
  for (const name of ['lists/partial', 'cache/archives/partial', 'sources'])
    mkdirSync(join(apt, name), { recursive: true })
  const key = '/usr/share/keyrings/debian-archive-keyring.gpg'
  await Bun.write(
    join(apt, 'sources.list'),
    `deb [signed-by=${key}] ${debianMirror()} trixie main\n`,
  )
  const options = {
    'APT::Architecture': architecture,
    'APT::Architectures::': architecture,
    'APT::Sandbox::User': 'root',
    'Dir::State::Lists': join(apt, 'lists'),
    'Dir::Cache': join(apt, 'cache'),
    'Dir::Etc::SourceList': join(apt, 'sources.list'),
    'Dir::Etc::SourceParts': join(apt, 'sources'),
  }
  const flags = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  await sh(['apt-get', ...flags, 'update', '-qq'])
  await sh(['sh', '-c', `cd ${to} && apt-get "$@" download musl:${architecture}`, '-', ...flags])
  await sh(['sh', '-c', `cd ${to} && dpkg-deb -x musl_*.deb root`])
}

/**
 * A root folder with musl 1.2.5, libstdc++ and libgcc. The latter two come as Alpine builds them in a wheel of numpy
 * for musl; Debian has none.
 */
async function muslRoot(architecture: string, machine: string): Promise<string | null> {
  const to = folder.file(architecture)
  mkdirSync(to)
  try {
    await downloadMusl(to, architecture)
    const pip = ['pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps']
    const wheel = ['--only-binary=:all:', '--python-version', '3.12', '--platform']
    await sh([...pip, ...wheel, `musllinux_1_2_${machine}`, '--dest', to, 'numpy==2.5.5'])
    await sh(['sh', '-c', `cd ${to} && python3 -m zipfile -e numpy-*.whl wheel`])
  } catch (error) {
    console.log(`(skip) musl on ${machine}, which has no C++ library here: ${error}`)
    return null
  }
  const [lib, libs] = [join(to, 'root/lib'), join(to, 'wheel/numpy.libs')]
  for (const name of ['lib', 'tmp', 'data']) mkdirSync(join(to, 'root', name), { recursive: true })
  const loader = `ld-musl-${machine}.so.1`
  copyFileSync(join(to, `root/usr/lib/${machine}-linux-musl/libc.so`), join(lib, loader))
  await sh(['chmod', '755', join(lib, loader)])
  symlinkSync(loader, join(lib, `libc.musl-${machine}.so.1`))
  for (const name of readdirSync(libs)) {
    copyFileSync(join(libs, name), join(lib, name))
    if (name.startsWith('libstdc++')) symlinkSync(name, join(lib, 'libstdc++.so.6'))
  }
  await sh(['rm', '-rf', join(to, 'root/etc'), join(to, 'wheel'), join(to, 'apt')])
  return join(to, 'root')
}

const hasTools = await has('dpkg-deb', 'apt-get', 'pip', 'python3', 'unshare')

test.skipIf(!hasX64 || !hasTools)('x64 musl keeps a plant through kill -9', async () => {
  const root = await muslRoot('amd64', 'x86_64')
  if (root === null) return
  copyFileSync(executable('x64-musl'), join(root, 'plantstore'))
  for (const name of ['proc', 'dev']) mkdirSync(join(root, name))
  const mounts = 'mount -t proc proc "$0/proc" && mount --bind /dev "$0/dev"'
  const enter = `${mounts} && exec chroot "$0" /plantstore "$@"`
  await expectToSurviveKill(['unshare', '--mount', 'sh', '-c', enter, root], '/data/plants.db')
})

test.skipIf(!hasArm64 || !hasTools)('arm64 musl keeps a plant through kill -9', async () => {
  const root = await muslRoot('arm64', 'aarch64')
  if (root === null) return
  const program = [...emulated, root, executable('arm64-musl')]
  await expectToSurviveKill(program, folder.file('plants.db'))
})
