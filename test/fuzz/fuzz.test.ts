import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { randomFrom } from '../server/ingress/random.ts'
import { corpusOf } from './base/corpus.ts'
import { fuzz } from './base/run.ts'
import type { FuzzTarget } from './base/target.ts'
import { startTarget, targetNames } from './targets/targets.ts'

/** Together a hundred thousand; `bun test/fuzz/main.ts <target> --inputs 10000000` tries more. */
const INPUTS = 20_000
const SEED = 1

describe.each(targetNames)('%s', (name) => {
  let target: FuzzTarget
  beforeAll(async () => {
    target = await startTarget(name)
  })
  afterAll(() => target.close?.())

  test('every input of the corpus is still read in one way', async () => {
    const corpus = corpusOf(name)
    expect(corpus.length).toBeGreaterThan(20)
    for (const { input } of corpus) {
      // However it is cut into pieces.
      for (let seed = 1; seed <= 5; seed++) target.check(input, randomFrom(seed))
    }
    await target.compare?.()
  })

  test('no input crashes it, takes long or is read in two ways', async () => {
    const { failures, inputs, compared } = await fuzz(target, { inputs: INPUTS, seed: SEED })
    expect(failures.map(({ input, reason }) => `${JSON.stringify(input.toString('latin1'))}: ${reason}`)).toEqual([])
    expect(inputs).toBe(INPUTS)
    // Not every target has a reader of another make.
    if (target.compare !== undefined) expect(Object.values(compared).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(500)
  })
})
