/**
 * Two small rules out of Unicode's report on names taken for another (UTS 39): a label keeps to the letters of one script (section 5.2,
 * "highly restrictive"), and two names with the same skeleton (section 4) look the same. Our skeleton knows Latin and what is drawn like
 * it; a label of one script cannot reach the other 6,000 entries of Unicode's table from a Latin name.
 */
import { decodeLabel } from './punycode.ts'

/** Scripts that a label may hold side by side, beside the signs that belong to all. */
const scriptSets: readonly RegExp[] = [
  'Latin',
  'Cyrillic',
  'Greek',
  'Armenian',
  'Hebrew',
  'Arabic',
  'Devanagari',
  'Bengali',
  'Gurmukhi',
  'Gujarati',
  'Tamil',
  'Telugu',
  'Kannada',
  'Malayalam',
  'Sinhala',
  'Thai',
  'Lao',
  'Khmer',
  'Myanmar',
  'Georgian',
  'Ethiopic',
  'Latin Han Hiragana Katakana',
  'Latin Han Bopomofo',
  'Latin Han Hangul',
].map((names) => {
  const classes = names.split(' ').map((name) => `\\p{Script=${name}}`)
  return new RegExp(`^[${classes.join('')}\\p{Script=Common}\\p{Script=Inherited}]+$`, 'u')
})

/** Whether a label, as it is read by people, mixes letters of scripts that are not written together. */
export const isMixedScript = (label: string): boolean => !scriptSets.some((set) => set.test(label))

const drawnAlike: Record<string, string> = {
  a: 'аαɑ',
  b: 'ЬƄ',
  c: 'сϲ',
  d: 'ԁ',
  e: 'еҽ',
  g: 'ɡց',
  h: 'һհ',
  i: 'іιıɩ',
  j: 'јϳ',
  k: 'κкĸ',
  l: '1ӏ',
  m: 'м',
  n: 'ոռп',
  o: '0оοօσ',
  p: 'рρ',
  q: 'ԛգ',
  r: 'гᴦ',
  s: 'ѕ',
  t: 'тτ',
  u: 'υսʋ',
  v: 'νѵ',
  w: 'ѡԝա',
  x: 'хχ',
  y: 'уγү',
  z: 'ᴢ',
}
const latinOf = new Map(Object.entries(drawnAlike).flatMap(([latin, others]) => Array.from(others, (other) => [other, latin] as const)))

/** What a name looks like: names that are taken for each other have the same. `name` is in punycode. */
export function skeletonOf(name: string): string {
  const visible = name
    .split('.')
    .map((label) => decodeLabel(label) ?? label)
    .join('.')
  const letters = visible
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
  return Array.from(letters, (letter) => latinOf.get(letter) ?? letter)
    .join('')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
}

/** Whether `name`, or a name it lies below, is not `own` but looks like it. Both in punycode. */
export function looksLike(name: string, own: string): boolean {
  const wanted = skeletonOf(own)
  const labels = name.split('.')
  return labels.some((_, index) => {
    const upper = labels.slice(index).join('.')
    return upper !== own && skeletonOf(upper) === wanted
  })
}
