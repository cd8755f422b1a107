import { expect, test } from 'vitest'
import { changeToFollow, type Followed, type Following } from '../../../../server/apps/datastores/follow.ts'

const common: Followed = { phase: 'ready', plan: 'free', version: '18', environmentId: null, suspendedBy: null, sizeGb: 1 }
const follower: Following = { ...common, generation: 3, copy: 1, growToGb: null }
const change = (primary: Partial<Followed>, own: Partial<Following> = {}, roomGb = 100) =>
  changeToFollow({ ...common, ...primary }, { ...follower, ...own }, roomGb)

test('what is as its primary is stays as it is', () => {
  expect(change({})).toBeUndefined()
  expect(change({ sizeGb: 5 }, { growToGb: 5 })).toBeUndefined()
  expect(change({ plan: 'basic_1gb' }, { phase: 'deleting' })).toBeUndefined()
})

test('another plan is a fresh start, another place is none', () => {
  expect(change({ plan: 'basic_1gb' })).toEqual({ plan: 'basic_1gb', generation: 4 })
  expect(change({ environmentId: 'evm' })).toEqual({ environmentId: 'evm' })
})

test('the files of another major version are taken anew', () => {
  expect(change({ version: '19' })).toEqual({ version: '19', copy: 2, generation: 4 })
})

test('it is suspended and resumed along with its primary', () => {
  expect(change({ suspendedBy: ['user'] })).toEqual({ suspendedBy: ['user'], problem: null })
  expect(change({}, { suspendedBy: ['user'] })).toEqual({ suspendedBy: null, generation: 4 })
})

test('its disk grows with that of its primary where there is room, and never shrinks', () => {
  expect(change({ sizeGb: 5 })).toEqual({ growToGb: 5 })
  expect(change({ sizeGb: 5 }, {}, 3)).toBeUndefined()
  expect(change({}, { sizeGb: 5 })).toBeUndefined()
})

test('it goes with its primary', () => {
  expect(change({ phase: 'deleting', plan: 'basic_1gb' })).toEqual({ phase: 'deleting' })
})
