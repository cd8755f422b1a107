/** Mostly zero counts, packed: for each other one its distance from the one before and the count, as integers of seven bits a byte, up to 2^53. */
export function encodeCounts(counts: ArrayLike<number>): Uint8Array {
  const bytes: number[] = []
  let last = -1
  for (let index = 0; index < counts.length; index++) {
    const count = counts[index] ?? 0
    if (count <= 0) continue
    push(bytes, index - last - 1)
    push(bytes, count)
    last = index
  }
  return Uint8Array.from(bytes)
}

/** Adds what is packed to `sum`; what lies beyond its end or is cut short is left out. */
export function addEncoded(sum: Float64Array, bytes: Uint8Array): void {
  let at = 0
  let index = -1
  const next = (): number => {
    let value = 0
    for (let factor = 1; at < bytes.length; factor *= 128) {
      const byte = bytes[at++] ?? 0
      value += (byte & 127) * factor
      if (byte < 128) return value
    }
    return Number.NaN
  }
  while (at < bytes.length) {
    index += next() + 1
    const count = next()
    if (Number.isNaN(count) || !(index < sum.length)) return
    sum[index] = (sum[index] ?? 0) + count
  }
}

function push(bytes: number[], value: number): void {
  let left = value
  while (left >= 128) {
    bytes.push((left % 128) + 128)
    left = Math.floor(left / 128)
  }
  bytes.push(left)
}
