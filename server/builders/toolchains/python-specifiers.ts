/** Versions of Python by the words of those who ask for them: PEP 440 (https://peps.python.org/pep-0440), and Poetry's carets, tildes and bars. */
type Numbers = readonly number[]

const CLAUSE = /^(~=|===|==|!=|<=|>=|<|>|\^|~)?\s*v?(\d+(?:\.\d+){0,2})(\.\*)?$/

/** Whether a release is one that is asked for; undefined for words that are no version. A version alone stands for all that begin with it. */
export function isPython(version: string, wanted: string): boolean | undefined {
  const met = wanted.split('||').map((all) => meetsAll(numbersOf(version), all))
  return met.includes(undefined) ? undefined : met.includes(true)
}

function meetsAll(version: Numbers, wanted: string): boolean | undefined {
  const met = wanted.split(',').map((clause) => meets(version, clause.trim()))
  return met.includes(undefined) ? undefined : !met.includes(false)
}

function meets(version: Numbers, clause: string): boolean | undefined {
  const [, comparison, written, star] = CLAUSE.exec(clause) ?? []
  if (written === undefined) return undefined
  const numbers = numbersOf(written)
  const isBelow = isPrefix(numbers, version)
  const isEqual = star === undefined && comparison !== undefined ? compare(version, numbers) === 0 : isBelow
  const isNewer = compare(version, numbers) >= 0
  switch (comparison) {
    case undefined:
    case '==':
    case '===':
      return isEqual
    case '!=':
      return !isEqual
    case '<=':
      return compare(version, numbers) <= 0
    case '<':
      return !isNewer
    case '>=':
      return isNewer
    case '>':
      return compare(version, numbers) > 0
    case '^':
      return isNewer && isPrefix(numbers.slice(0, 1), version)
    case '~':
      return isNewer && isPrefix(numbers.slice(0, 2), version)
    default:
      return isNewer && isPrefix(numbers.slice(0, -1), version)
  }
}

const numbersOf = (version: string): Numbers => version.split('.').map(Number)

const isPrefix = (prefix: Numbers, version: Numbers): boolean => prefix.every((number, at) => number === version[at])

function compare(a: Numbers, b: Numbers): number {
  for (let at = 0; at < 3; at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** The release line that a version belongs to, whose releases differ in what was mended alone. */
export const lineOf = (version: string): string => version.split('.').slice(0, 2).join('.')
