/** The candidate that a mistyped word most likely means; undefined when none is near. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const wanted = word.toLowerCase()
  const [best] = candidates
    .map((candidate) => ({ candidate, distance: editsBetween(wanted, candidate.toLowerCase()) }))
    .sort((one, other) => one.distance - other.distance)
  const isNear = best !== undefined && best.distance <= Math.max(2, Math.floor(wanted.length / 3))
  return isNear ? best.candidate : undefined
}

/** How many letters have to be put in, left out or replaced (Levenshtein's distance). */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1]
    for (const [place, other] of [...to].entries()) {
      const replaced = (row[place] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[place + 1] ?? 0) + 1, (next[place] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
