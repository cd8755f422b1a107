import { dlopen } from 'bun:ffi'

const F_DUPFD_CLOEXEC = 1030
const FIRST_FREE = 3

/**
 * Another descriptor of the same open socket. Two listeners can share a listening socket that way, and so one of them can take the
 * place of the other without a moment in which nobody listens.
 *
 * @throws Error where the system's C library is not the one we know, or no descriptor is left.
 */
export function duplicateDescriptor(descriptor: number): number {
  const libc = dlopen('libc.so.6', { fcntl: { args: ['i32', 'i32', 'i32'], returns: 'i32' } })
  const duplicate = libc.symbols.fcntl(descriptor, F_DUPFD_CLOEXEC, FIRST_FREE)
  libc.close()
  if (duplicate < 0) throw new Error(`the listening socket cannot be duplicated`)
  return duplicate
}
