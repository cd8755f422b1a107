import { describe, expect, test } from 'vitest'
import { createSlots, type SlotLimits } from '../../../../server/apps/webhooks/dispatch/slots.ts'
import { createWaiting } from '../../../../server/apps/webhooks/dispatch/waiting.ts'

const limits: SlotLimits = {
  perWebhook: { proven: { first: 3, retry: 1 }, unproven: { first: 1, retry: 1 } },
  perWorkspace: 4,
  all: 6,
}
const place = (id: string, workspaceId = 'tea-1') => ({ id, workspaceId })

function provenSlots(...ids: string[]) {
  const slots = createSlots(limits)
  for (const id of ids) slots.take(place(id), 'first')(true)
  return slots
}

describe('places', () => {
  test('are few for a webhook until it has answered, and again once it failed', () => {
    const slots = createSlots(limits)
    expect(slots.room(place('a'), 'first')).toBe(1)
    const release = slots.take(place('a'), 'first')
    expect(slots.room(place('a'), 'first')).toBe(0)
    expect(slots.room(place('a'), 'retry')).toBe(1)
    release(true)
    expect(slots.room(place('a'), 'first')).toBe(3)
    slots.take(place('a'), 'first')(false)
    expect(slots.room(place('a'), 'first')).toBe(1)
  })

  test('that hang are taken from others that have not answered, and from nobody else', () => {
    const slots = provenSlots('good')
    for (const id of ['b', 'c', 'd', 'e']) slots.take(place(id), 'first')
    expect(slots.room(place('f'), 'first')).toBe(0)
    expect(slots.room(place('good'), 'first')).toBe(3)
    expect(slots.room(place('g', 'tea-2'), 'first')).toBe(1)
    for (const id of ['h', 'i']) slots.take(place(id, 'tea-2'), 'first')
    expect(slots.room(place('j', 'tea-3'), 'first')).toBe(0)
    expect(slots.room(place('good'), 'first')).toBe(3)
  })

  test('are given back to the group that they were taken from', () => {
    const slots = provenSlots('a')
    const releases = [1, 2, 3].map(() => slots.take(place('a'), 'first'))
    for (const release of releases) release(false)
    expect(slots.left(slots.groupOf(place('a')))).toBe(4)
    expect(slots.left({ key: 'proven tea-1', standing: 'proven' })).toBe(4)
  })
})

describe('those that wait', () => {
  test('have their turns by workspaces, and in each in the order they came', () => {
    const waiting = createWaiting(createSlots(limits))
    for (const id of ['a', 'b', 'a']) waiting.add(place(id))
    waiting.add(place('c', 'tea-2'))
    const turns = [1, 2, 3, 4].map(() => waiting.next()?.id)
    expect(turns).toEqual(['a', 'c', 'b', undefined])
  })

  test('wait on while their group is full, and are dropped while their own places are', () => {
    const slots = createSlots(limits)
    const waiting = createWaiting(slots)
    const releases = ['a', 'b', 'c', 'd'].map((id) => slots.take(place(id), 'first'))
    waiting.add(place('e'))
    expect(waiting.next()).toBeUndefined()
    releases[0]?.(true)
    expect(waiting.next()?.id).toBe('e')
    slots.take(place('b'), 'retry')
    waiting.add(place('b'))
    releases[3]?.(true)
    expect(waiting.next()).toBeUndefined()
  })
})
