import { dlopen } from 'bun:ffi'
import { closeSync, constants, openSync } from 'node:fs'

/** From linux/falloc.h: the length of the file stays, so writers that append and readers that hold an offset notice nothing. */
const KEEP_SIZE_AND_PUNCH_HOLE = 0x01 | 0x02

const libraryNames = ['libc.so.6', 'libc.musl-x86_64.so.1', 'libc.musl-aarch64.so.1']

type Allocate = (descriptor: number, mode: number, offset: number, length: number) => number
let allocate: Allocate | undefined

/** Gives the space of a part of a file back to the file system; the part then reads as zeros. False where it cannot be done. */
export function releaseRange(path: string, offset: number, lengthBytes: number): boolean {
  allocate ??= loadAllocate()
  const descriptor = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW)
  try {
    return allocate(descriptor, KEEP_SIZE_AND_PUNCH_HOLE, offset, lengthBytes) === 0
  } finally {
    closeSync(descriptor)
  }
}

function loadAllocate(): Allocate {
  for (const name of libraryNames) {
    try {
      return dlopen(name, { fallocate: { args: ['i32', 'i32', 'i64', 'i64'], returns: 'i32' } }).symbols.fallocate
    } catch {}
  }
  return () => -1
}
