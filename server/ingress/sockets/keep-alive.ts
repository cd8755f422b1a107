import { dlopen, ptr } from 'bun:ffi'

const [SOL_SOCKET, SO_KEEPALIVE] = [1, 9]
const [IPPROTO_TCP, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT, TCP_INFO] = [6, 4, 5, 6, 11]
const INTEGER_BYTES = 4
/** `tcpi_last_ack_recv` of struct tcp_info in linux/tcp.h, in milliseconds. */
const LAST_ACK_AT = 56
const TCP_INFO_BYTES = 60

/** Parts of the time after which somebody has vanished: he is asked once he was silent for a third of it, and then so often. */
const [BEFORE, ASKS, BETWEEN] = [3, 6, 18]
const MS = 1000

const integer = new Int32Array(1)
const info = Buffer.alloc(TCP_INFO_BYTES)
const length = new Uint32Array(1)

/**
 * Has the kernel ask whether the other side is there, of this connection or of all that a listener accepts from now on: they begin as it is.
 * Bun's own `setKeepAlive` asks ten times within ten seconds, and so ends connections in an outage of that length.
 * Nothing is done where the system's C library is not the one we know.
 */
export function keepAlive(descriptor: number, vanishedMs: number): void {
  const set = (level: number, name: number, value: number) => {
    integer[0] = value
    libc()?.setsockopt(descriptor, level, name, ptr(integer), INTEGER_BYTES)
  }
  const seconds = (parts: number) => Math.max(1, Math.round(vanishedMs / parts / MS))
  set(IPPROTO_TCP, TCP_KEEPIDLE, seconds(BEFORE))
  set(IPPROTO_TCP, TCP_KEEPINTVL, seconds(BETWEEN))
  set(IPPROTO_TCP, TCP_KEEPCNT, ASKS)
  set(SOL_SOCKET, SO_KEEPALIVE, 1)
}

/** Bun's types do not know the property; -1, which is no descriptor, where it is missing. */
export const connectionDescriptor = (socket: object): number => ('fd' in socket && typeof socket.fd === 'number' ? socket.fd : -1)

/**
 * Milliseconds since the other side has confirmed anything, 0 where that is not known. Who is there confirms what is sent, what he is
 * asked, and at least every two minutes that he has no room; for one with something on its way the kernel gives up after a quarter of an hour only.
 */
export function silentMs(descriptor: number): number {
  length[0] = TCP_INFO_BYTES
  const failed = libc()?.getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, ptr(info), ptr(length)) !== 0
  return failed ? 0 : info.readUInt32LE(LAST_ACK_AT)
}

type Libc = ReturnType<typeof loadLibc>
let loaded: Libc | undefined

function libc(): Libc {
  loaded ??= loadLibc()
  return loaded
}

function loadLibc() {
  try {
    return dlopen('libc.so.6', {
      setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' },
      getsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'ptr'], returns: 'i32' },
    }).symbols
  } catch {
    return null
  }
}
