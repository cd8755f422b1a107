import { expect, test } from 'vitest'
import { createHashQueue } from '../../../../server/identity/passwords/hash-queue.ts'
import { AppError } from '../../../../shared/error.ts'

/** A computation that ends when it is told to. */
function held() {
  const { promise, resolve } = Promise.withResolvers<string>()
  return { compute: () => promise, resolve }
}

test('as many run at a time as may, the others follow in the order they came', async () => {
  const queue = createHashQueue({ running: 2, waiting: 10 })
  const started: number[] = []
  const tasks = Array.from({ length: 5 }, held)
  const all = tasks.map(({ compute }, index) =>
    queue(() => {
      started.push(index)
      return compute()
    }),
  )
  await Promise.resolve()
  expect(started).toEqual([0, 1])
  tasks[1]?.resolve('one')
  expect(await all[1]).toBe('one')
  await Promise.resolve()
  expect(started).toEqual([0, 1, 2])
  for (const { resolve } of tasks) resolve('done')
  await Promise.all(all)
  expect(started).toEqual([0, 1, 2, 3, 4])
})

test('beyond the line nobody waits: they are told when to come again', async () => {
  const queue = createHashQueue({ running: 1, waiting: 1 })
  const task = held()
  const first = queue(task.compute)
  const second = queue(async () => 'second')
  const third = queue(async () => 'third')
  const refusal = await third.catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(AppError)
  expect(refusal).toMatchObject({ code: 'unavailable', retryAfterSeconds: 2 })
  task.resolve('first')
  expect(await Promise.all([first, second])).toEqual(['first', 'second'])
  expect(await queue(async () => 'later')).toBe('later')
})

test('a computation that fails gives its place on', async () => {
  const queue = createHashQueue({ running: 1, waiting: 2 })
  const replies = await Promise.allSettled([
    queue(async () => {
      throw new Error('broken')
    }),
    queue(async () => 'next'),
  ])
  expect(replies.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
})
