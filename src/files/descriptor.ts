// An open file that closes itself: `using file = openDescriptor(path, 'r')`.

import { closeSync, openSync } from 'node:fs'

/** Opens a file; disposing closes it. */
export function openDescriptor(
  path: string,
  flags: string | number,
  mode?: number,
): Disposable & { readonly fd: number } {
  const fd = openSync(path, flags, mode)
  return { fd, [Symbol.dispose]: () => closeSync(fd) }
}
