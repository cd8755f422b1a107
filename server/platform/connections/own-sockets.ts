/**
 * The TCP connections of this process, as the kernel knows them: Bun.serve tells nothing of a connection before its first whole request, and
 * cannot refuse one. What is read of a descriptor holds until the end of this turn of the event loop.
 */
import { dlopen, ptr } from 'bun:ffi'

export interface OwnSocket {
  descriptor: number
  address: string
  port: number
}

export interface Progress {
  received: number
  isAnswered: boolean
}

export interface OwnSockets {
  accepted(localPort: number): { sockets: OwnSocket[]; descriptors: number }
  progressOf(descriptor: number): Progress
  end(descriptor: number): void
  readonly limit: number
}

const AF_INET = 2
const AF_INET6 = 10
const SOCKADDR_BYTES = 28
const IPPROTO_TCP = 6
const TCP_INFO = 11
/** Offsets in struct tcp_info of linux/tcp.h, which only ever grows at its end. */
const BYTES_ACKED_AT = 120
const BYTES_RECEIVED_AT = 128
const TCP_INFO_BYTES = 136
const F_GETFD = 1
const SHUT_RDWR = 2
const RLIMIT_NOFILE = 7
const FIRST = 3
/** The kernel gives the lowest free descriptor: after this many free ones there are hardly others. */
const FREE_RUN = 512

/** @throws Error where the system's C library is not the one we know. */
export function openOwnSockets(): OwnSockets {
  const { symbols: libc } = dlopen('libc.so.6', {
    getpeername: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' },
    getsockname: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' },
    getsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'ptr'], returns: 'i32' },
    fcntl: { args: ['i32', 'i32'], returns: 'i32' },
    shutdown: { args: ['i32', 'i32'], returns: 'i32' },
    getrlimit: { args: ['i32', 'ptr'], returns: 'i32' },
  })
  const name = Buffer.alloc(SOCKADDR_BYTES)
  const info = Buffer.alloc(TCP_INFO_BYTES)
  const length = new Uint32Array(1)
  const limits = new BigUint64Array(2)
  const named = (ask: typeof libc.getpeername, descriptor: number): boolean => {
    length[0] = SOCKADDR_BYTES
    return ask(descriptor, ptr(name), ptr(length)) === 0 && [AF_INET, AF_INET6].includes(name.readUInt16LE(0))
  }
  if (libc.getrlimit(RLIMIT_NOFILE, ptr(limits)) !== 0) throw new Error('the limit of descriptors is not known')
  const limit = Number(limits[0])

  return {
    limit,
    accepted(localPort) {
      const sockets: OwnSocket[] = []
      let descriptors = 0
      for (let descriptor = FIRST, free = 0; descriptor < limit && free < FREE_RUN; descriptor += 1) {
        const isPeer = named(libc.getpeername, descriptor)
        if (!isPeer && libc.fcntl(descriptor, F_GETFD) < 0) {
          free += 1
          continue
        }
        free = 0
        descriptors += 1
        if (!isPeer) continue
        const peer = { descriptor, address: addressIn(name), port: name.readUInt16BE(2) }
        if (named(libc.getsockname, descriptor) && name.readUInt16BE(2) === localPort) sockets.push(peer)
      }
      return { sockets, descriptors }
    },
    progressOf(descriptor) {
      length[0] = TCP_INFO_BYTES
      if (libc.getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, ptr(info), ptr(length)) !== 0) return { received: 0, isAnswered: true }
      return { received: Number(info.readBigUInt64LE(BYTES_RECEIVED_AT)), isAnswered: info.readBigUInt64LE(BYTES_ACKED_AT) > 1n }
    },
    end: (descriptor) => void libc.shutdown(descriptor, SHUT_RDWR),
  }
}

const V4_AT = 4
const V6_AT = 8
const V6_BYTES = 16
const MAPPED_PREFIX = '00000000000000000000ffff'

function addressIn(name: Buffer): string {
  if (name.readUInt16LE(0) === AF_INET) return [...name.subarray(V4_AT, V4_AT + 4)].join('.')
  const bytes = name.subarray(V6_AT, V6_AT + V6_BYTES)
  const hex = bytes.toString('hex')
  return hex.startsWith(MAPPED_PREFIX) ? [...bytes.subarray(12)].join('.') : (hex.match(/.{4}/g) ?? []).join(':')
}
