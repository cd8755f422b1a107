/** What a workspace says of where its members stand, by the names of folders. */
export interface MemberPatterns {
  included: readonly (readonly string[])[]
  excluded: readonly (readonly string[])[]
}

/** Patterns that begin with `!` leave some out again. */
export const parsePatterns = (patterns: readonly string[]): MemberPatterns => ({
  included: patterns.filter((one) => !one.startsWith('!')).map(partsOf),
  excluded: patterns.filter((one) => one.startsWith('!')).map((one) => partsOf(one.slice(1))),
})

export function isMember(path: string, { included, excluded }: MemberPatterns): boolean {
  const names = partsOf(path)
  const matches = (pattern: readonly string[]) => matchesPath(pattern, names)
  return included.some(matches) && !excluded.some(matches)
}

export function mayHoldMember(path: string, { included }: MemberPatterns): boolean {
  const names = partsOf(path)
  return included.some((pattern) => leadsTo(pattern, names))
}

function leadsTo(pattern: readonly string[], path: readonly string[]): boolean {
  const deep = pattern.indexOf('**')
  if (deep < 0 && path.length > pattern.length) return false
  const fixed = deep < 0 ? path.length : Math.min(deep, path.length)
  return path.slice(0, fixed).every((name, at) => matchesName(pattern[at] ?? '', name))
}

const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '' && part !== '.')

/** `*` stands for any characters within a name, `**` for any folders. Goes back to the last of those only. */
function matchesPath(pattern: readonly string[], path: readonly string[]): boolean {
  let [at, from, retryAt, retryFrom] = [0, 0, -1, 0]
  while (from < path.length) {
    const wanted = pattern[at]
    if (wanted === '**') {
      ;[retryAt, retryFrom] = [++at, from]
    } else if (wanted !== undefined && matchesName(wanted, path[from] ?? '')) {
      at++
      from++
    } else if (retryAt >= 0) {
      ;[at, from] = [retryAt, ++retryFrom]
    } else return false
  }
  return pattern.slice(at).every((part) => part === '**')
}

/** Each part between stars as far to the left as it can be, which leaves the most to those after it. */
function matchesName(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return name === first
  const end = name.length - last.length
  let at = first.length
  if (at > end || !name.startsWith(first) || !name.endsWith(last)) return false
  for (const part of rest) {
    const found = name.indexOf(part, at)
    if (found < 0 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}
