// The checksums of files, as md5sum and sha256sum print them.
import { join } from 'node:path'

/** The sums of files in a folder, a line each. */
export async function sumsOf(
  algorithm: 'md5' | 'sha256',
  folder: string,
  files: readonly string[],
): Promise<string> {
  const lines = files.map(async (file) => {
    const bytes = await Bun.file(join(folder, file)).bytes()
    return `${new Bun.CryptoHasher(algorithm).update(bytes).digest('hex')}  ${file}\n`
  })
  return (await Promise.all(lines)).join('')
}
