import { dlopen } from 'bun:ffi'
import { writeFileSync } from 'node:fs'

const KEYCTL = process.arch === 'arm64' ? 219 : 250
const JOIN_SESSION_KEYRING = 1

/** Keeps the memory of a process with keys out of core dumps (core(5)), and gives it a session keyring of its own. */
export function keepSecretsInside(): void {
  try {
    writeFileSync('/proc/self/coredump_filter', '0')
  } catch {}
  const libc = dlopen('libc.so.6', { syscall: { args: ['i64', 'i64', 'i64'], returns: 'i64' } })
  libc.symbols.syscall(KEYCTL, JOIN_SESSION_KEYRING, 0)
  libc.close()
}
