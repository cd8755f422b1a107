/** A pure function that remembers its last answers, for what the hot path computes again and again. Beyond `max` it starts anew. */
export function memo<K extends string | number, V>(compute: (key: K) => V, max: number): (key: K) => V {
  const known = new Map<K, V>()
  return (key) => {
    const held = known.get(key)
    if (held !== undefined) return held
    if (known.size >= max) known.clear()
    const value = compute(key)
    known.set(key, value)
    return value
  }
}
