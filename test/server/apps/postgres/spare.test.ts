import { expect, test } from 'vitest'
import { databaseSql } from '../../../../server/apps/postgres/initialise.ts'
import { planSpares, type SpareSituation, type Wanted } from '../../../../server/apps/postgres/spare/plan.ts'
import type { StoredSpare } from '../../../../server/apps/postgres/spare-store.ts'

const wanted: Wanted = { volumeKind: 'image', version: '18', program: 'postgres-18.6', sizeGb: 1 }
type Spare = Wanted & Pick<StoredSpare, 'volumeId' | 'phase'>
const ready: Spare = { ...wanted, volumeId: 'dsk-1', phase: 'ready' }
const LATER_MS = 100_000

const plan = (situation: Partial<SpareSituation<Spare>> = {}) =>
  planSpares({
    ...{ now: LATER_MS, startedAt: 0, spares: [], make: wanted, databases: [{ createdAt: 0, isBeingMade: false }], roomGb: 100 },
    ...situation,
  })

test('a spare is made once there is a database, and one is enough', () => {
  expect(plan()).toEqual({ remove: [], make: wanted, lookAt: undefined })
  expect(plan({ databases: [] })).toEqual({ remove: [], make: undefined, lookAt: undefined })
  expect(plan({ spares: [ready] })).toEqual({ remove: [], make: undefined, lookAt: undefined })
  const second = { ...ready, volumeId: 'dsk-2' }
  expect(plan({ spares: [ready, second] }).remove).toEqual([second])
})

test('it holds nobody up: not a start, not who makes databases', () => {
  expect(plan({ startedAt: LATER_MS - 1 })).toMatchObject({ make: undefined, lookAt: LATER_MS + 29_999 })
  expect(plan({ databases: [{ createdAt: LATER_MS - 1, isBeingMade: false }] })).toMatchObject({ make: undefined, lookAt: LATER_MS + 9999 })
  expect(plan({ databases: [{ createdAt: 0, isBeingMade: true }] })).toMatchObject({ make: undefined, lookAt: LATER_MS + 5000 })
})

test('one that was begun and not finished is thrown away, as is one of other programs', () => {
  const begun = { ...ready, phase: 'making' } as const
  expect(plan({ spares: [begun] })).toMatchObject({ remove: [begun], make: wanted })
  const old = { ...ready, program: 'postgres-18.5' }
  expect(plan({ spares: [old] })).toMatchObject({ remove: [old], make: wanted })
  expect(plan({ spares: [ready], make: undefined })).toMatchObject({ remove: [ready], make: undefined })
})

test('where room is short none is made, and one that is there goes', () => {
  expect(plan({ roomGb: 3 })).toEqual({ remove: [], make: undefined, lookAt: undefined })
  expect(plan({ roomGb: 3, spares: [ready] }).remove).toEqual([])
  expect(plan({ roomGb: 0.5, spares: [ready] })).toEqual({ remove: [ready], make: undefined, lookAt: undefined })
})

test("the database of a spare becomes its owner's, once", () => {
  const own = { databaseName: 'shop', databaseUser: 'shop_user' }
  expect(databaseSql(own, [])).toEqual(['CREATE DATABASE "shop" OWNER "shop_user"'])
  expect(databaseSql(own, ['cpd_new'])).toEqual(['ALTER DATABASE cpd_new OWNER TO "shop_user"', 'ALTER DATABASE cpd_new RENAME TO "shop"'])
  expect(databaseSql(own, ['shop'])).toEqual(['ALTER DATABASE "shop" WITH ALLOW_CONNECTIONS true'])
})
