/** Something that takes bytes of strangers, and what must hold whatever they are. */
export interface FuzzTarget {
  /** Names the folder of its corpus. */
  name: string
  /** Where mutation starts, as latin1. */
  seeds: readonly string[]
  /** What mutation puts in, as latin1. */
  dictionary: readonly string[]
  /**
   * Puts one input through everything that must hold, and throws where something does not. Returns what became of it, the kind of
   * outcome and behind a slash what it looked like: an input with a new outcome is worth mutating further, which stands in for coverage.
   */
  check(input: Buffer, random: (below: number) => number): string
  /** Compares what has been collected with readers of other make; throws where they differ. */
  compare?(): Promise<void>
  /** How many inputs were compared so. */
  compared?(): Record<string, number>
  close?(): void
}
