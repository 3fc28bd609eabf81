// Hands a port over from one listening socket to the next, without refusing or resetting a connection. Linux only.
// Otherwise a reload under load would reset connections, or serve the old certificate
// (`test/daemon/listening/tls.test.ts`).

import { ptr } from 'bun:ffi'
import { readdirSync } from 'node:fs'
import { openLibc } from '../../files/libc'
import { isSocket, OPEN_FILES } from './open-files'

const SOL_SOCKET = 1
const SO_REUSEPORT = 15
const SO_ATTACH_REUSEPORT_CBPF = 51
// BPF_RET | BPF_K: a program that returns a constant.
const RETURN_CONSTANT = 6

const UNSUPPORTED = 'this kernel does not support port sharing; restart to use the new certificate'

export type SharedPort = ReturnType<typeof createSharedPort>

/** Calls a function that opens a socket, and finds its descriptor, which Bun does not expose. */
function openingSocket<T>(open: () => T): { readonly opened: T; readonly fd: number } {
  const before = new Set(readdirSync(OPEN_FILES).filter(isSocket))
  const opened = open()
  const fd = readdirSync(OPEN_FILES).find((it) => !before.has(it) && isSocket(it))
  return { opened, fd: Number(fd ?? -1) }
}

/**
 * The listeners of this process on one port. The first binds the port exclusively, and fails if another program uses
 * it. After that, the newest receives every new connection, and the others keep theirs.
 */
export function createSharedPort() {
  const { setsockopt } = openLibc({
    setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' },
  })
  // struct sock_filter { u16 code; u8 jt, jf; u32 k } and struct sock_fprog { u16 len; struct sock_filter *filter }.
  // Allocated here, because the second contains the address of the first, which must stay valid.
  const filter = new DataView(new ArrayBuffer(8))
  filter.setUint16(0, RETURN_CONSTANT, true)
  const program = new DataView(new ArrayBuffer(16))
  program.setUint16(0, 1, true)
  program.setBigUint64(8, BigInt(ptr(filter.buffer)), true)
  // In the kernel's order: new ones are appended; the last one replaces one that closes (sock_reuseport.c).
  const fds: number[] = []
  let newest = -1

  const setOption = (fd: number, name: number, value: Uint8Array): boolean =>
    setsockopt(fd, SOL_SOCKET, name, value, value.length) === 0

  function directToNewest(): boolean {
    filter.setUint32(4, fds.indexOf(newest), true)
    return setOption(newest, SO_ATTACH_REUSEPORT_CBPF, new Uint8Array(program.buffer))
  }

  function forget(fd: number): void {
    const last = fds.pop()
    if (last !== undefined && last !== fd) fds[fds.indexOf(fd)] = last
  }

  return {
    /**
     * Opens a listener with `listen`, whose argument says whether to share the port. Returns it, and a function that
     * closes it with `stop`. Throws, and opens none, if the system cannot share a port.
     */
    open<T>(listen: (isShared: boolean) => T, stop: (listener: T) => void) {
      const isShared = fds.every((fd) => setOption(fd, SO_REUSEPORT, new Uint8Array([1, 0, 0, 0])))
      if (!isShared) throw new Error(UNSUPPORTED)
      const { opened: listener, fd } = openingSocket(() => listen(fds.length > 0))
      const before = newest
      fds.push(fd)
      newest = fd
      if (fds.length > 1 && !directToNewest()) {
        stop(listener)
        forget(fd)
        newest = before
        throw new Error(UNSUPPORTED)
      }
      const close = () => {
        stop(listener)
        forget(fd)
        // Fails if the newest is closed already: the daemon stops.
        if (fds.length > 1) directToNewest()
      }
      return { listener, close }
    },
  }
}
