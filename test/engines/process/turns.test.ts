import { expect, test } from 'vitest'
import { createTurns } from '../../../server/engines/process/turns.ts'

test('what has the same key happens one after the other, failures included, and nothing else waits', async () => {
  const turns = createTurns()
  const happened: string[] = []
  const step =
    (name: string, ms: number, isFailing = false) =>
    async () => {
      happened.push(`${name} begins`)
      await Bun.sleep(ms)
      happened.push(`${name} ends`)
      if (isFailing) throw new Error(name)
      return name
    }
  const first = turns.take('disk', step('first', 30, true))
  const second = turns.take('disk', step('second', 1))
  const third = turns.take('disk', step('third', 1))
  const other = turns.take('other', step('other', 1))
  const free = turns.take(undefined, step('free', 1))
  await expect(first).rejects.toThrow('first')
  expect(await Promise.all([second, third, other, free])).toEqual(['second', 'third', 'other', 'free'])
  expect(happened.filter((line) => /first|second|third/.test(line))).toEqual([
    'first begins',
    'first ends',
    'second begins',
    'second ends',
    'third begins',
    'third ends',
  ])
  expect(happened.indexOf('other ends')).toBeLessThan(happened.indexOf('first ends'))
  expect(happened.indexOf('free ends')).toBeLessThan(happened.indexOf('first ends'))
})
