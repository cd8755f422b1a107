export interface ByteRange {
  start: number
  end: number
}

/**
 * Reads a Range header. Undefined means the whole file: no header, one that is malformed, another unit, or several ranges at once,
 * which a server may answer in full (RFC 9110 section 14.2).
 */
export function parseRange(header: string | undefined, sizeBytes: number): ByteRange | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '')
  const [first, last] = [match?.[1] ?? '', match?.[2] ?? '']
  if (first === '' && last === '') return undefined
  if (first === '')
    return last === '0' || sizeBytes === 0 ? 'unsatisfiable' : { start: Math.max(0, sizeBytes - Number(last)), end: sizeBytes }
  const start = Number(first)
  const end = last === '' ? sizeBytes : Math.min(sizeBytes, Number(last) + 1)
  if (last !== '' && Number(last) < start) return undefined
  return start < sizeBytes ? { start, end } : 'unsatisfiable'
}
