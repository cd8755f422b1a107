import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { runProcess } from '../../../../server/platform/process/spawn.ts'

const programFor = (score: number) => `
const { spareFromOom } = await import(${JSON.stringify(resolve('server/platform/process/oom-score.ts'))})
spareFromOom(${score})
console.log((await Bun.file('/proc/self/oom_score_adj').text()).trim())
`

test('a process says itself how soon it is to go when memory runs out, and goes on where it may not', async () => {
  const scoreOf = async (score: number) => (await runProcess([process.execPath, '-e', programFor(score)])).stdout.trim()
  expect(await scoreOf(300)).toBe('300')
  // Only root may lower it.
  expect(['-800', '0']).toContain(await scoreOf(-800))
})
