import { readdirSync, readlinkSync } from 'node:fs'

/** The paths of this process's open files that begin so, such as those of a database. */
export function openFiles(prefix: string): string[] {
  return readdirSync('/proc/self/fd')
    .flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/self/fd/${fd}`)]
      } catch {
        return []
      }
    })
    .filter((path) => path.startsWith(prefix))
}
