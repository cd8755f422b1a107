/** Runs classic BPF as the kernel does for seccomp: what the filter says of one system call. */
export interface Call {
  architecture: number
  number: number
  arguments: readonly bigint[]
}

export function verdictOf(program: Uint8Array, call: Call): number {
  const code = new DataView(program.buffer, program.byteOffset, program.byteLength)
  const data = new DataView(new ArrayBuffer(64))
  data.setUint32(0, call.number, true)
  data.setUint32(4, call.architecture, true)
  for (const [index, value] of call.arguments.entries()) data.setBigUint64(16 + index * 8, value, true)
  let accumulator = 0
  for (let at = 0; at < program.length; at += 8) {
    const [operation, value] = [code.getUint16(at, true), code.getUint32(at + 4, true)]
    const jump = (passes: boolean) => {
      at += 8 * code.getUint8(at + (passes ? 2 : 3))
    }
    if (operation === 0x06) return value
    if (operation === 0x20) accumulator = data.getUint32(value, true)
    else if (operation === 0x54) accumulator = (accumulator & value) >>> 0
    else if (operation === 0x05) at += 8 * value
    else if (operation === 0x15) jump(accumulator === value)
    else if (operation === 0x25) jump(accumulator > value)
    else if (operation === 0x35) jump(accumulator >= value)
    else if (operation === 0x45) jump((accumulator & value) !== 0)
    else throw new Error(`The program has an instruction that this does not know: ${operation.toString(16)}`)
  }
  throw new Error('The program ends without a verdict')
}
