import type { Oracle, OracleItem } from '../oracle/oracle.ts'
import { Disagreement } from './run.ts'

interface Compared extends OracleItem {
  input: Buffer
  reading: ComparedReading
}

export interface ComparedReading {
  /** What we have read, in the words of the oracles. */
  text: string
  /** Whether we refuse what follows: others may read on. */
  isRefused?: boolean
}

/** Collects what we have read, and asks other readers about all of it at once. */
export class Comparison {
  readonly #oracles: readonly Oracle[]
  readonly #items: Compared[] = []
  readonly #counts: Record<string, number> = {}

  constructor(oracles: readonly Oracle[]) {
    this.#oracles = oracles
  }

  add(item: OracleItem, reading: ComparedReading, input: Buffer): void {
    if (this.#oracles.length > 0) this.#items.push({ ...item, reading, input: Buffer.from(input) })
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

  #judge(name: string, answer: string, { reading, input }: Compared): void {
    const refusedAt = answer.indexOf('refused:')
    const read = refusedAt < 0 ? answer : answer.slice(0, refusedAt).trimEnd()
    const isShorter = refusedAt >= 0 && reading.text.startsWith(read)
    const isLonger = reading.isRefused === true && read.startsWith(reading.text)
    if (!isShorter && !isLonger && read !== reading.text) {
      throw new Disagreement(`${name} reads ${JSON.stringify(answer)} where we read ${JSON.stringify(reading)}`, input)
    }
    const kind = isShorter && read !== reading.text ? `${name} refused` : `${name} agreed`
    this.#counts[kind] = (this.#counts[kind] ?? 0) + 1
  }
}
