import { dlopen, ptr } from 'bun:ffi'
import { closeSync } from 'node:fs'
import { arch } from 'node:os'
import { runProcess } from '../../../platform/process/spawn.ts'
import { systemEnv } from '../../../platform/process/system-tools.ts'
import { type Attempt, refuse, type Try } from './attempt.ts'

/** Numbers on x86-64 and aarch64, with arguments that an unfiltered kernel has nothing against: what comes is closed at once. */
const HARMLESS: Record<string, { numbers: readonly [number, number]; args: readonly (number | Uint8Array)[]; opens?: true }> = {
  'keyctl (the session keyring)': { numbers: [250, 219], args: [0, -3, 1] },
  add_key: { numbers: [248, 217], args: [text('user'), text('cpd-doctor'), text('x'), 1, -2] },
  io_uring_setup: { numbers: [425, 425], args: [1, new Uint8Array(120)], opens: true },
  'userfaultfd (of its own mode)': { numbers: [323, 282], args: [1], opens: true },
  open_tree: { numbers: [428, 428], args: [-100, text('/'), 0], opens: true },
  'process_vm_readv (of itself)': { numbers: [310, 270], args: [process.pid, 0, 0, 0, 0, 0] },
  'kcmp (of itself)': { numbers: [312, 272], args: [process.pid, process.pid, 0, 0, 1] },
  'socket AF_VSOCK': { numbers: [41, 198], args: [40, 1, 0], opens: true },
  'socket AF_ALG': { numbers: [41, 198], args: [38, 5, 0], opens: true },
}

export function systemCallTries(): Try[] {
  return [
    {
      id: 'forbidden-calls',
      title: 'asks the kernel for what no app needs',
      guarantee: 'filtered-calls',
      attempts: Object.keys(HARMLESS).map((what) => ({ what, act: () => calling(what) })),
    },
    {
      id: 'user-namespaces',
      title: 'makes a user namespace of its own, in which it has every capability',
      guarantee: 'filtered-calls',
      attempts: ['--user', '--map-root-user'].map(unsharing),
    },
  ]
}

function unsharing(option: string): Attempt {
  return {
    what: `unshare ${option}`,
    act: async () => {
      const { exitCode } = await runProcess(['unshare', option, 'true'], { env: systemEnv, timeoutMs: 3000 })
      return exitCode === 0 ? 'made' : refuse('not made')
    },
  }
}

function calling(what: string): string {
  const { numbers, args, opens } = HARMLESS[what] ?? refuse('unknown')
  const values = Array.from({ length: 6 }, (_, index) => {
    const value = args[index] ?? 0
    return typeof value === 'number' ? value : ptr(value)
  })
  const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0, sixth = 0] = values
  const number = numbers[arch() === 'arm64' ? 1 : 0]
  const libc = dlopen('libc.so.6', { syscall: { args: ['i64', 'i64', 'i64', 'i64', 'i64', 'i64', 'i64'], returns: 'i64' } })
  const result = Number(libc.symbols.syscall(number, first, second, third, fourth, fifth, sixth))
  if (result < 0) refuse('an error')
  if (opens) closeSync(result)
  return `answered ${result}`
}

function text(words: string): Uint8Array {
  return Buffer.from(`${words}\0`)
}
