import { expect, test } from 'vitest'
import { createKeyedMutex } from '../../../server/engines/process/keyed-mutex.ts'

test('what has the same key happens one after the other, failures included, and nothing else waits', async () => {
  const mutex = createKeyedMutex()
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
  const first = mutex.run('disk', step('first', 30, true))
  const second = mutex.run('disk', step('second', 1))
  const third = mutex.run('disk', step('third', 1))
  const other = mutex.run('other', step('other', 1))
  const free = mutex.run(undefined, step('free', 1))
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
