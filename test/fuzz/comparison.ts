import type { Oracle, OracleItem } from './oracle.ts'
import { Disagreement } from './run.ts'

interface Compared extends OracleItem {
  input: Buffer
  /** What we have read, in the words of the oracles. */
  expected: string
}

/** Collects what we have read, and asks other readers about all of it at once. */
export class Comparison {
  readonly #oracles: readonly Oracle[]
  readonly #items: Compared[] = []
  readonly #counts: Record<string, number> = {}

  constructor(oracles: readonly Oracle[]) {
    this.#oracles = oracles
  }

  add(item: OracleItem, expected: string, input: Buffer): void {
    if (this.#oracles.length > 0) this.#items.push({ ...item, expected, input: Buffer.from(input) })
  }

  /** Throws where one of them reads something else. That it refuses what we take is no second reading; it is counted. */
  async compare(): Promise<void> {
    const items = this.#items.splice(0)
    if (items.length === 0) return
    const answers = await Promise.all(this.#oracles.map((oracle) => oracle.read(items)))
    for (const [index, oracle] of this.#oracles.entries()) {
      for (const [at, item] of items.entries()) this.#judge(oracle.name, answers[index]?.[at] ?? '', item)
    }
  }

  counts(): Record<string, number> {
    return { ...this.#counts }
  }

  stop(): void {
    for (const oracle of this.#oracles) oracle.stop()
  }

  #judge(name: string, answer: string, { expected, input }: Compared): void {
    const refusedAt = answer.indexOf('refused:')
    const isRefused = refusedAt >= 0
    const agrees = isRefused ? expected.startsWith(answer.slice(0, refusedAt).trimEnd()) : answer === expected
    const kind = isRefused ? `${name} refused` : `${name} agreed`
    this.#counts[kind] = (this.#counts[kind] ?? 0) + 1
    if (!agrees) throw new Disagreement(`${name} reads ${JSON.stringify(answer)} where we read ${JSON.stringify(expected)}`, input)
  }
}
