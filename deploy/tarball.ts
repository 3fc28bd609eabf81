// Makes a tarball of an executable and what belongs to it, for any Linux: the same input gives the same bytes.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { run } from './run'

/** `files`: their contents, by their names in the tarball. `epoch`: the time of the files, in seconds since 1970. */
export async function makeTarball(
  outfile: string,
  files: Readonly<Record<string, string | Blob>>,
  epoch: number,
): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'plantstore-tarball-'))
  const folder = basename(outfile, '.tar.gz')
  try {
    for (const [name, content] of Object.entries(files)) {
      await Bun.write(join(work, folder, name), content)
    }
    chmodSync(join(work, folder, 'plantstore'), 0o755)
    const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX']
    const tar = ['tar', '--sort=name', '--format=ustar', `--mtime=@${epoch}`, ...owner]
    const packed = ['--use-compress-program=gzip -n', '--file', outfile]
    run([...tar, ...packed, '--create', folder], { cwd: work })
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}
