import { type Architecture, type CallName, numberOf } from '../step-program/numbers.ts'
import { type Instruction, JUMP_ANY_BIT, JUMP_EQUAL, JUMP_GREATER_EQUAL, load, returns, skipIf, unless } from './bpf.ts'

/**
 * System calls that no app needs, by what they are for. They reach parts of the kernel that are shared by all sandboxes, or that had most of
 * its holes; an app gets EPERM. None of them is needed by the stacks that are built here.
 */
export const REFUSED_CALLS = {
  mounts: [
    'mount',
    'umount2',
    'pivot_root',
    'move_mount',
    'open_tree',
    'fsopen',
    'fsconfig',
    'fsmount',
    'fspick',
    'mount_setattr',
    'open_by_handle_at',
  ],
  keyrings: ['add_key', 'request_key', 'keyctl'],
  'other processes': ['ptrace', 'process_vm_readv', 'process_vm_writev', 'kcmp', 'pidfd_getfd'],
  'programs in the kernel': ['bpf', 'perf_event_open', 'userfaultfd'],
  io_uring: ['io_uring_setup', 'io_uring_enter', 'io_uring_register'],
  'the kernel itself': ['kexec_load', 'kexec_file_load', 'init_module', 'finit_module', 'delete_module', 'reboot', 'syslog'],
  'the whole machine': ['acct', 'quotactl', 'quotactl_fd', 'swapon', 'swapoff'],
} as const satisfies Record<string, readonly CallName[]>

/** Local sockets, IPv4, IPv6 and netlink, which tells a program its addresses. All others are refused: vsock, packets, the kernel's ciphers. */
export const ALLOWED_FAMILIES = [1, 2, 10, 16] as const

export const CLONE_NEWUSER = 0x1000_0000

export interface FilterOptions {
  architecture: Architecture
  allowsUserNamespaces: boolean
}

/** linux/audit.h */
const AUDIT_ARCHITECTURES: Record<Architecture, number> = { x64: 0xc000_003e, arm64: 0xc000_00b7 }
/** The calls of x32 have this bit in their number, and bypass a filter that does not look for it. */
const X32_BIT = 0x4000_0000

/** Offsets in `struct seccomp_data`; arguments are read by their lower half, which is all that flags and families use. */
const NUMBER_AT = 0
const ARCHITECTURE_AT = 4
const FIRST_ARGUMENT_AT = 16

const ALLOW = 0x7fff_0000
const EPERM = 0x0005_0001
const ENOSYS = 0x0005_0026

/**
 * The filter of a workload. `clone3` is said to be missing, since its flags stand in memory, where no filter can read them: the C library
 * and Go then call `clone`. Programs for other processors (32 bits, x32) get EPERM for everything.
 */
export function callFilter({ architecture, allowsUserNamespaces }: FilterOptions): Instruction[] {
  const number = (name: CallName) => numberOf(name, architecture)
  const refused = Object.values(REFUSED_CALLS).flat().map(number)
  return [
    load(ARCHITECTURE_AT),
    skipIf(JUMP_EQUAL, AUDIT_ARCHITECTURES[architecture]),
    returns(EPERM),
    load(NUMBER_AT),
    ...(architecture === 'x64' ? when(JUMP_GREATER_EQUAL, X32_BIT, [returns(EPERM)]) : []),
    ...refused.flatMap((call) => when(JUMP_EQUAL, call, [returns(EPERM)])),
    ...(allowsUserNamespaces ? [] : withoutUserNamespaces(number)),
    ...(['socket', 'socketpair'] as const).flatMap((call) => when(JUMP_EQUAL, number(call), knownFamilies())),
    returns(ALLOW),
  ]
}

function withoutUserNamespaces(number: (name: CallName) => number): Instruction[] {
  return [
    ...when(JUMP_EQUAL, number('clone3'), [returns(ENOSYS)]),
    ...when(JUMP_EQUAL, number('setns'), [returns(EPERM)]),
    ...(['clone', 'unshare'] as const).flatMap((call) =>
      when(JUMP_EQUAL, number(call), [load(FIRST_ARGUMENT_AT), ...when(JUMP_ANY_BIT, CLONE_NEWUSER, [returns(EPERM)]), returns(ALLOW)]),
    ),
  ]
}

function knownFamilies(): Instruction[] {
  return [load(FIRST_ARGUMENT_AT), ...ALLOWED_FAMILIES.flatMap((family) => when(JUMP_EQUAL, family, [returns(ALLOW)])), returns(EPERM)]
}

const when = (code: number, value: number, branch: readonly Instruction[]): Instruction[] => [unless(code, value, branch.length), ...branch]
