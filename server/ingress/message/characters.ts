/** Character classes of RFC 9110 section 5.6.2 and 5.5, as tables over the 256 bytes of a head read as latin1. */

export const CR = 13
export const LF = 10
export const COLON = 58
const SPACE = 32
export const TAB = 9

export function tableOf(isMember: (code: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => (isMember(code) ? 1 : 0))
}

const tokenCharacters = new Set(
  [..."!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"].map((c) => c.charCodeAt(0)),
)

export const isTokenCode = tableOf((code) => tokenCharacters.has(code))
/** Visible ASCII, space, tab and the bytes above ASCII: no control, no CR, no LF, no NUL. */
export const isValueCode = tableOf((code) => code === TAB || (code >= SPACE && code !== 127))
/** Visible ASCII without `#`: a fragment never travels. */
export const isTargetCode = tableOf((code) => code > SPACE && code < 127 && code !== 35)

export function skipWhile(text: string, from: number, table: Uint8Array): number {
  let at = from
  while (at < text.length && table[text.charCodeAt(at)] === 1) at++
  return at
}

export function trimBlanks(text: string, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB
}
