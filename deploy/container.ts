// The files of a release for containers: they take the executable beside them, where those of the repository build it.
import { join } from 'node:path'

const here = import.meta.dir

/** Replaces a part of a text that must be there. */
function replaced(text: string, part: string | RegExp, by: string): string {
  const result = text.replace(part, () => by)
  if (result === text) throw new Error(`nothing to replace by ${by}`)
  return result
}

/** The repository's Dockerfile, with another first stage. */
export async function releaseDockerfile(version: string): Promise<string> {
  const stage = await Bun.file(join(here, 'release.Dockerfile')).text()
  const whole = await Bun.file(join(here, '../Dockerfile')).text()
  const beforeLastStage = /^.*?(?=\nFROM gcr\.io\/)/s
  return replaced(whole, beforeLastStage, stage.replaceAll('VERSION', version))
}

/** The repository's compose.yaml, which builds from the folder that it is in. */
export async function releaseCompose(): Promise<string> {
  return replaced(await Bun.file(join(here, 'compose.yaml')).text(), /build: \.\.$/m, 'build: .')
}
