/** The constants of punycode for host names (RFC 3492 section 5). */
const BASE = 36
const T_MIN = 1
const T_MAX = 26
const SKEW = 38
const DAMP = 700
const INITIAL_BIAS = 72
const INITIAL_CODE = 128
const MAX_CODE = 0x10ffff
const PREFIX = 'xn--'

/** The letters that one label of a host name stands for; the label itself when it is plain, undefined when it is no valid punycode. */
export function decodeLabel(label: string): string | undefined {
  return label.startsWith(PREFIX) ? decode(label.slice(PREFIX.length)) : label
}

function decode(text: string): string | undefined {
  const delimiter = text.lastIndexOf('-')
  const codes = Array.from(text.slice(0, Math.max(0, delimiter)), (letter) => letter.charCodeAt(0))
  let position = delimiter + 1
  let code = INITIAL_CODE
  let bias = INITIAL_BIAS
  let index = 0
  while (position < text.length) {
    const number = readNumber(text, position, bias)
    if (number === undefined) return undefined
    position = number.end
    const count = codes.length + 1
    bias = adapt(number.value, count, index === 0 && code === INITIAL_CODE)
    code += Math.floor((index + number.value) / count)
    index = (index + number.value) % count
    if (code > MAX_CODE) return undefined
    codes.splice(index, 0, code)
    index += 1
  }
  return String.fromCodePoint(...codes)
}

function readNumber(text: string, start: number, bias: number): { value: number; end: number } | undefined {
  let value = 0
  let weight = 1
  for (let end = start, k = BASE; ; end++, k += BASE) {
    const digit = end < text.length ? digitOf(text.charCodeAt(end)) : undefined
    if (digit === undefined) return undefined
    value += digit * weight
    if (value > Number.MAX_SAFE_INTEGER) return undefined
    const threshold = Math.min(T_MAX, Math.max(T_MIN, k - bias))
    if (digit < threshold) return { value, end: end + 1 }
    weight *= BASE - threshold
  }
}

/** a to z are 0 to 25, 0 to 9 are 26 to 35. */
function digitOf(char: number): number | undefined {
  if (char >= 0x61 && char <= 0x7a) return char - 0x61
  return char >= 0x30 && char <= 0x39 ? char - 0x30 + 26 : undefined
}

function adapt(delta: number, count: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? DAMP : 2))
  rest += Math.floor(rest / count)
  let k = 0
  while (rest > ((BASE - T_MIN) * T_MAX) / 2) {
    rest = Math.floor(rest / (BASE - T_MIN))
    k += BASE
  }
  return k + Math.floor(((BASE - T_MIN + 1) * rest) / (rest + SKEW))
}
