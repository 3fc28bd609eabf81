// Clients that read nothing, over connections whose buffers are so small that the daemon has to keep the answer itself.
import { dlopen, ptr } from 'bun:ffi'

const AF_INET = 2
const SOCK_STREAM = 1
const IPPROTO_TCP = 6
const TCP_MAXSEG = 2
const SOL_SOCKET = 1
const SO_RCVBUF = 8
// MSG_NOSIGNAL and MSG_DONTWAIT
const QUIETLY = 0x4040

const symbols = {
  socket: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
  setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' },
  connect: { args: ['i32', 'ptr', 'u32'], returns: 'i32' },
  send: { args: ['i32', 'ptr', 'u64', 'i32'], returns: 'i64' },
  close: { args: ['i32'], returns: 'i32' },
} as const

/** Opens connections to a port of this machine with segments of 1400 bytes, as over a network, and small buffers. */
export function openNonReaders(port: number, many: number) {
  const { socket, setsockopt, connect, send, close } = dlopen('libc.so.6', symbols).symbols
  // struct sockaddr_in of 127.0.0.1, in network order but for the family.
  const address = new Uint8Array([
    AF_INET,
    0,
    port >> 8,
    port & 255,
    127,
    0,
    0,
    1,
    ...Array(8).fill(0),
  ])
  const set = (fd: number, level: number, option: number, value: number) =>
    setsockopt(fd, level, option, ptr(new Int32Array([value])), 4)
  const open = () => {
    const fd = socket(AF_INET, SOCK_STREAM, 0)
    set(fd, IPPROTO_TCP, TCP_MAXSEG, 1400)
    set(fd, SOL_SOCKET, SO_RCVBUF, 2048)
    if (connect(fd, ptr(address), address.length) !== 0) throw new Error('no connection')
    return fd
  }
  const sockets = Array.from({ length: many }, open)
  return {
    /** Sends a request on every connection, and waits for no answer. */
    send(text: string): void {
      const bytes = Buffer.from(text)
      for (const fd of sockets) send(fd, ptr(bytes), bytes.length, QUIETLY)
    },
    close(): void {
      for (const fd of sockets.splice(0)) close(fd)
    },
    [Symbol.dispose](): void {
      this.close()
    },
  }
}
