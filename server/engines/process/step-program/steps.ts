import { type Architecture, type CallName, numberOf } from './numbers.ts'

export type Argument = number | string | Uint8Array | Pointers | { resultOf: Step }

export interface Pointers {
  bytes: Uint8Array
  pointers: readonly { at: number; to: Uint8Array }[]
}

export interface Step {
  call: CallName
  args: readonly Argument[]
  failure?: string
}

export interface StepFile {
  steps: readonly Step[]
  /** Eight characters: only the variables that begin with them are kept for the program that comes next, and lose them. Absent: all are kept. */
  envPrefix?: string
}

const STEPS_ADDRESS = 0x1000_0000
const MAX_BYTES = 0x2_0000

const HEADER_BYTES = 16
const STEP_BYTES = 80
const ARGUMENTS_AT = 8
const RESULT_TO_AT = 56
const FAILURE_AT = 64
const FAILURE_LENGTH_AT = 72
const PREFIX_BYTES = 8

/**
 * The file that tells the program what to do:
 *
 *   8 bytes    prefix of the variables that are kept, or zero
 *   8 bytes    where results go that nobody wants
 *   80 bytes   for each step: number (negative ends the list), six arguments, where the result goes, words for a failure and their length
 *   the rest   what arguments point to
 * @throws RangeError for more than the program reads.
 */
export function renderSteps({ steps, envPrefix }: StepFile, architecture: Architecture): Uint8Array {
  const dataAt = HEADER_BYTES + (steps.length + 1) * STEP_BYTES
  const data = openData(STEPS_ADDRESS + dataAt)
  const table = Buffer.alloc(dataAt)
  if (envPrefix !== undefined) table.write(envPrefix.padEnd(PREFIX_BYTES).slice(0, PREFIX_BYTES), 0, 'latin1')
  const results = resultPlaces(steps)
  for (const [index, step] of steps.entries()) {
    const at = placeOf(index)
    table.writeBigInt64LE(BigInt(numberOf(step.call, architecture)), at)
    for (const [position, argument] of step.args.entries())
      table.writeBigInt64LE(BigInt(placed(argument, data)), at + ARGUMENTS_AT + position * 8)
    table.writeBigInt64LE(BigInt(STEPS_ADDRESS + (results.get(step) ?? PREFIX_BYTES)), at + RESULT_TO_AT)
    const words = step.failure === undefined ? undefined : Buffer.from(`${step.failure}\n`)
    table.writeBigInt64LE(BigInt(words === undefined ? 0 : data.add(words)), at + FAILURE_AT)
    table.writeBigInt64LE(BigInt(words?.length ?? 0), at + FAILURE_LENGTH_AT)
  }
  table.writeBigInt64LE(-1n, placeOf(steps.length))
  const file = Buffer.concat([table, data.bytes()])
  if (file.length > MAX_BYTES) throw new RangeError(`The steps take ${file.length} bytes, and ${MAX_BYTES} are read`)
  return file
}

const placeOf = (index: number): number => HEADER_BYTES + index * STEP_BYTES

function resultPlaces(steps: readonly Step[]): Map<Step, number> {
  return new Map(
    steps.flatMap(({ args }, index) =>
      args.flatMap((argument, position) =>
        typeof argument === 'object' && 'resultOf' in argument
          ? [[argument.resultOf, placeOf(index) + ARGUMENTS_AT + position * 8] as const]
          : [],
      ),
    ),
  )
}

type Data = ReturnType<typeof openData>

function openData(startAddress: number) {
  const parts: Uint8Array[] = []
  let size = 0
  return {
    add(bytes: Uint8Array): number {
      const address = startAddress + size
      const padded = Buffer.alloc(Math.ceil(bytes.length / 8) * 8)
      padded.set(bytes)
      parts.push(padded)
      size += padded.length
      return address
    },
    bytes: () => Buffer.concat(parts),
  }
}

function placed(argument: Argument, data: Data): number {
  if (typeof argument === 'number') return argument
  if (typeof argument === 'string') return data.add(Buffer.from(`${argument}\0`))
  if (argument instanceof Uint8Array) return data.add(argument)
  if ('resultOf' in argument) return 0
  const bytes = Buffer.from(argument.bytes)
  for (const { at, to } of argument.pointers) bytes.writeBigInt64LE(BigInt(data.add(to)), at)
  return data.add(bytes)
}
