import { expect, test } from 'vitest'
import { cycles } from '../soak/cycles.ts'

test('instances and services that were started and ended leave nothing on the machine', { timeout: 240_000 }, async () => {
  expect(await cycles({ cycles: 20, services: 2, seed: 1 })).toMatchObject({ failures: [] })
})
