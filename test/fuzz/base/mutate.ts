export type Random = (below: number) => number

export const MAX_INPUT_BYTES = 2048

/** Where all mutated inputs are built; one is of use until the next one is asked for. */
const room = Buffer.alloc(2 * MAX_INPUT_BYTES)

/** A few changes to one of the inputs: bytes flipped, put in, cut out, doubled, words of the dictionary, halves of two inputs joined. */
export function mutated(pool: readonly Buffer[], dictionary: readonly Buffer[], random: Random): Buffer {
  const base = pool[random(pool.length)] ?? Buffer.alloc(0)
  let length = base.copy(room)
  if (random(8) === 0) length = spliced(length, pool[random(pool.length)] ?? base, random)
  for (let changes = 1 + random(random(4) === 0 ? 8 : 3); changes > 0; changes--) {
    const change = changesOf[random(changesOf.length)] ?? flip
    length = Math.min(MAX_INPUT_BYTES, change(length, random, dictionary))
  }
  return room.subarray(0, length)
}

type Change = (length: number, random: Random, dictionary: readonly Buffer[]) => number

function spliced(length: number, other: Buffer, random: Random): number {
  const at = random(length + 1)
  const from = random(other.length + 1)
  return Math.min(MAX_INPUT_BYTES, at + other.copy(room, at, from, Math.min(other.length, from + MAX_INPUT_BYTES - at)))
}

const flip: Change = (length, random) => {
  if (length > 0) {
    const at = random(length)
    room[at] = (room[at] ?? 0) ^ (1 << random(8))
  }
  return length
}

const replaceByte: Change = (length, random) => {
  if (length > 0) room[random(length)] = random(256)
  return length
}

const insertByte: Change = (length, random) => {
  const at = opened(length, random(length + 1), 1)
  room[at] = random(256)
  return length + 1
}

const remove: Change = (length, random) => {
  if (length === 0) return 0
  const at = random(length)
  const count = Math.min(length - at, 1 + random(random(4) === 0 ? 64 : 4))
  room.copyWithin(at, at + count, length)
  return length - count
}

const double: Change = (length, random) => {
  if (length === 0) return 0
  const from = random(length)
  const count = Math.min(length - from, 1 + random(64), 2 * MAX_INPUT_BYTES - length)
  const part = Buffer.from(room.subarray(from, from + count))
  return insert(length, random(length + 1), part)
}

const insertWord: Change = (length, random, dictionary) => {
  const word = dictionary[random(dictionary.length)]
  return word === undefined ? length : insert(length, random(length + 1), word)
}

const overwriteWord: Change = (length, random, dictionary) => {
  const word = dictionary[random(dictionary.length)]
  if (word === undefined || word.length > length) return length
  word.copy(room, random(length - word.length + 1))
  return length
}

const truncate: Change = (length, random) => (random(4) === 0 ? random(length + 1) : length)

const changesOf: readonly Change[] = [
  flip,
  replaceByte,
  insertByte,
  remove,
  double,
  insertWord,
  insertWord,
  insertWord,
  overwriteWord,
  truncate,
]

function insert(length: number, at: number, part: Buffer): number {
  const count = Math.min(part.length, room.length - length)
  part.copy(room, opened(length, at, count), 0, count)
  return length + count
}

function opened(length: number, at: number, count: number): number {
  room.copyWithin(at + count, at, length)
  return at
}
