import { describe, expect, test } from 'vitest'
import { renderBpf } from '../../../../server/engines/process/call-filter/bpf.ts'
import { CLONE_NEWUSER, callFilter } from '../../../../server/engines/process/call-filter/filter.ts'
import { type CallName, numberOf } from '../../../../server/engines/process/step-program/numbers.ts'
import { verdictOf } from './interpreter.ts'
import { LIBSECCOMP_OUTPUT } from './libseccomp-output.ts'

const ARCHITECTURES = { x64: 0xc000_003e, arm64: 0xc000_00b7, i386: 0x4000_0003, arm: 0x4000_0028 }
const ALLOW = 0x7fff_0000
const EPERM = 0x5_0001
const ENOSYS = 0x5_0026
const ALL_KNOWN = 600
const X32_BIT = 0x4000_0000

const firstArguments = [
  ...Array.from({ length: 70 }, (_, family) => BigInt(family)),
  0xffn,
  BigInt(CLONE_NEWUSER),
  BigInt(CLONE_NEWUSER | 0x2_0011),
  0x1_0000_0000n,
  0x1_0000_0028n,
  0xffff_ffff_ffff_ffffn,
  BigInt(0x100_0f00),
]

describe.each(['x64', 'arm64'] as const)('the filter of system calls on %s', (architecture) => {
  const programs = (allowsUserNamespaces: boolean) => ({
    ours: renderBpf(callFilter({ architecture, allowsUserNamespaces })),
    theirs: Buffer.from(LIBSECCOMP_OUTPUT[`${architecture} ${allowsUserNamespaces ? 'yes' : 'no'}`], 'base64'),
  })

  test.each([false, true])('says of every call what libseccomp says (user namespaces: %s)', (allowsUserNamespaces) => {
    const { ours, theirs } = programs(allowsUserNamespaces)
    const numbers = [...Array(ALL_KNOWN).keys(), ...[0, 1, 41, 520].map((number) => X32_BIT + number)]
    const differing = numbers.flatMap((number) =>
      Object.values(ARCHITECTURES).flatMap((arch) =>
        (arch === ARCHITECTURES[architecture] ? firstArguments : [0n]).flatMap((argument) => {
          const call = { architecture: arch, number, arguments: [argument, 0n, 0n, 0n, 0n, 0n] }
          return verdictOf(ours, call) === verdictOf(theirs, call) ? [] : [`${number} of ${arch.toString(16)} with ${argument}`]
        }),
      ),
    )
    expect(differing).toEqual([])
  })

  const verdict = (name: CallName, argument: number, allowsUserNamespaces = false) =>
    verdictOf(programs(allowsUserNamespaces).ours, {
      architecture: ARCHITECTURES[architecture],
      number: numberOf(name, architecture),
      arguments: [BigInt(argument)],
    })

  test('lets a process fork, and no user namespace be made', () => {
    expect(verdict('clone', 0x120_0011)).toBe(ALLOW)
    expect(verdict('clone', CLONE_NEWUSER | 0x11)).toBe(EPERM)
    expect(verdict('unshare', CLONE_NEWUSER)).toBe(EPERM)
    expect(verdict('setns', 0)).toBe(EPERM)
    expect(verdict('clone3', 0)).toBe(ENOSYS)
  })

  test('lets one be made where that is allowed, and nothing mounted in it', () => {
    expect(verdict('clone', CLONE_NEWUSER | 0x11, true)).toBe(ALLOW)
    expect(verdict('unshare', CLONE_NEWUSER, true)).toBe(ALLOW)
    expect(verdict('clone3', 0, true)).toBe(ALLOW)
    expect(verdict('mount', 0, true)).toBe(EPERM)
  })

  test('knows the families of sockets', () => {
    const families = { unix: 1, inet: 2, inet6: 10, netlink: 16, packet: 17, alg: 38, vsock: 40 }
    const verdicts = Object.entries(families).map(([name, family]) => [name, verdict('socket', family) === ALLOW])
    expect(Object.fromEntries(verdicts)).toEqual({
      ...{ unix: true, inet: true, inet6: true, netlink: true },
      ...{ packet: false, alg: false, vsock: false },
    })
  })
})
