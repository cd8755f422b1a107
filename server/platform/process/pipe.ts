import { dlopen, ptr } from 'bun:ffi'
import { closeSync, fchmodSync } from 'node:fs'
import { AppError } from '../../../shared/error.ts'

export interface Pipe {
  readEnd: number
  writeEnd: number
  close(): void
}

/** fcntl(2), from linux/fcntl.h and asm-generic/fcntl.h. */
const F_SETPIPE_SZ = 1031
const O_CLOEXEC = 0o2000000
/** What an ordinary user may ask for at most (/proc/sys/fs/pipe-max-size); a refusal leaves it at 64 KB. */
const PIPE_BYTES = 1024 * 1024
/** Programs that open /dev/stdout by its name may write there and nothing else. */
const WRITE_ONLY = 0o622

/** @throws AppError `unavailable` when the process has no descriptors left. */
export function openPipe(): Pipe {
  libc ??= openLibc()
  const ends = new Int32Array(2)
  if (libc.symbols.pipe2(ptr(ends), O_CLOEXEC) !== 0) throw new AppError('unavailable', 'No pipe could be made: too many files are open')
  const [readEnd = -1, writeEnd = -1] = ends
  libc.symbols.fcntl(writeEnd, F_SETPIPE_SZ, PIPE_BYTES)
  fchmodSync(writeEnd, WRITE_ONLY)
  return {
    readEnd,
    writeEnd,
    close: () => {
      for (const end of ends) closeSync(end)
    },
  }
}

let libc: ReturnType<typeof openLibc> | undefined

function openLibc() {
  return dlopen('libc.so.6', {
    pipe2: { args: ['ptr', 'i32'], returns: 'i32' },
    fcntl: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
  })
}
