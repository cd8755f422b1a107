import { expect, test } from 'vitest'
import { pokeOwner } from '../../../../server/boot/serve/workloads.ts'

test('changes of what runs for an owner go to whoever plans for owners of its kind, and for no other', () => {
  const poked: unknown[] = []
  const work = { poke: (...told: unknown[]) => void poked.push(told) }
  pokeOwner(work, { ownerKind: 'service', ownerId: 'srv-one' })
  for (const ownerKind of ['unheard_of', 'constructor']) pokeOwner(work, { ownerKind, ownerId: 'srv-one' })
  expect(poked).toEqual([['service', 'srv-one']])
})
