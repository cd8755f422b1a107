/** Classic BPF as seccomp(2) takes it: an accumulator, loads from `struct seccomp_data`, comparisons, and a verdict (linux/filter.h). */
export interface Instruction {
  code: number
  jumpTrue: number
  jumpFalse: number
  value: number
}

export const LOAD = 0x20
export const JUMP_EQUAL = 0x15
export const JUMP_GREATER_EQUAL = 0x35
export const JUMP_ANY_BIT = 0x45
export const RETURN = 0x06

const INSTRUCTION_BYTES = 8

export function renderBpf(program: readonly Instruction[]): Uint8Array {
  const bytes = Buffer.alloc(program.length * INSTRUCTION_BYTES)
  for (const [index, { code, jumpTrue, jumpFalse, value }] of program.entries()) {
    const at = index * INSTRUCTION_BYTES
    bytes.writeUInt16LE(code, at)
    bytes.writeUInt8(jumpTrue, at + 2)
    bytes.writeUInt8(jumpFalse, at + 3)
    bytes.writeUInt32LE(value, at + 4)
  }
  return bytes
}

export const load = (offset: number): Instruction => ({ code: LOAD, jumpTrue: 0, jumpFalse: 0, value: offset })

export const returns = (value: number): Instruction => ({ code: RETURN, jumpTrue: 0, jumpFalse: 0, value })

export const unless = (code: number, value: number, otherwise: number): Instruction => ({
  code,
  jumpTrue: 0,
  jumpFalse: otherwise,
  value,
})

export const skipIf = (code: number, value: number): Instruction => ({ code, jumpTrue: 1, jumpFalse: 0, value })
