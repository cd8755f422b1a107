import { expect, test } from 'vitest'
import { type DatastoreSituation, mayBegin, planDatastore } from '../../../../server/apps/datastores/plan.ts'
import { statusOf } from '../../../../server/apps/datastores/status.ts'

type Row = DatastoreSituation['datastore']

const row: Row = {
  id: 'dpg',
  phase: 'ready',
  generation: 2,
  suspendedBy: null,
  growToGb: null,
  role: 'primary',
  failover: null,
  upgrade: null,
}
const old = { id: 'dpg.1', isDropped: false }
const current = { id: 'dpg.2', isDropped: false }
const up = { setId: 'dpg.2', phase: 'running' } as const

const plan = (datastore: Partial<Row>, situation: Partial<DatastoreSituation> = {}) =>
  planDatastore({ datastore: { ...row, ...datastore }, sets: [], replicas: [], grow: 'offline', followers: 0, ...situation })

test('a new one gets its volume before its server, and is ready when that is up', () => {
  expect(plan({ phase: 'creating' })).toEqual([{ kind: 'make_volume' }, { kind: 'run', setId: 'dpg.2' }])
  expect(plan({ phase: 'creating' }, { sets: [current] })).toEqual([])
  expect(plan({ phase: 'creating' }, { sets: [current], replicas: [up] })).toEqual([{ kind: 'settle' }])
})

test('one with a volume of another size grows it before its server runs', () => {
  expect(plan({ phase: 'creating', growToGb: 5 })).toEqual([{ kind: 'make_volume' }, { kind: 'grow_volume' }])
})

test('another generation takes the place of the one before, and nothing happens when it runs', () => {
  expect(plan({}, { sets: [old] })).toEqual([
    { kind: 'drop', setId: 'dpg.1' },
    { kind: 'run', setId: 'dpg.2' },
  ])
  expect(plan({}, { sets: [current], replicas: [up] })).toEqual([])
})

test('a suspended one is stopped, and left alone when it is', () => {
  expect(plan({ suspendedBy: ['user'] }, { sets: [current], replicas: [up] })).toEqual([{ kind: 'drop', setId: 'dpg.2' }])
  expect(plan({ suspendedBy: ['user'] }, { sets: [{ ...current, isDropped: true }], replicas: [up] })).toEqual([])
  expect(plan({ suspendedBy: ['user'] })).toEqual([])
})

test('one that is brought to another version is got ready while it runs, then stopped, and nothing else is done meanwhile', () => {
  const running = { sets: [current], replicas: [up] }
  expect(plan({ upgrade: 'announced' }, running)).toEqual([{ kind: 'prepare_upgrade' }])
  expect(plan({ upgrade: 'announced', growToGb: 5 }, running)).toEqual([{ kind: 'prepare_upgrade' }])
  expect(plan({ upgrade: 'under_way' }, running)).toEqual([{ kind: 'drop', setId: 'dpg.2' }])
  expect(plan({ upgrade: 'under_way' }, { sets: [{ ...current, isDropped: true }], replicas: [up] })).toEqual([])
  expect(plan({ upgrade: 'under_way', growToGb: 5 })).toEqual([{ kind: 'upgrade' }])
  expect(mayBegin({ datastore: { ...row, upgrade: 'under_way' }, grow: 'online' })).toBe(false)
  expect(plan({ upgrade: 'under_way', phase: 'deleting' })).toEqual([{ kind: 'prepare_removal' }, { kind: 'remove' }])
})

test('a volume that grows offline has its server stopped first, one that grows online has not', () => {
  const running = { sets: [current], replicas: [up] }
  expect(plan({ growToGb: 5 }, running)).toEqual([{ kind: 'drop', setId: 'dpg.2' }])
  expect(plan({ growToGb: 5 }, { sets: [{ ...current, isDropped: true }], replicas: [up] })).toEqual([])
  expect(plan({ growToGb: 5 })).toEqual([{ kind: 'grow_volume' }])
  expect(plan({ growToGb: 5 }, { ...running, grow: 'online' })).toEqual([{ kind: 'grow_volume' }])
  expect(plan({ growToGb: 5 }, { sets: [current], replicas: [{ ...up, phase: 'pending' }], grow: 'online' })).toEqual([
    { kind: 'grow_volume' },
  ])
  expect(plan({ growToGb: 5 }, { sets: [old], grow: 'online' })).toEqual([
    { kind: 'drop', setId: 'dpg.1' },
    { kind: 'run', setId: 'dpg.2' },
  ])
})

test('no server begins while its disk is to grow, which it may need to come up', () => {
  const begins = (datastore: Partial<Row>) => mayBegin({ datastore: { ...row, ...datastore }, grow: 'online' })
  expect([begins({}), begins({ growToGb: 5 }), begins({ suspendedBy: ['user'] })]).toEqual([true, false, false])
})

test('a deleted one is stopped before anything is removed', () => {
  const deleted = { phase: 'deleting' } as const
  expect(plan(deleted, { sets: [current], replicas: [up] })).toEqual([{ kind: 'prepare_removal' }, { kind: 'drop', setId: 'dpg.2' }])
  expect(plan(deleted, { sets: [{ ...current, isDropped: true }] })).toEqual([])
  expect(plan(deleted)).toEqual([{ kind: 'prepare_removal' }, { kind: 'remove' }])
})

test('nothing runs of one that is being restored', () => {
  for (const phase of ['recovering', 'recovery_failed'] as const) expect(plan({ phase })).toEqual([])
})

test('one that is exchanged with its standby is stopped first, and neither starts nor grows meanwhile', () => {
  const fenced = { failover: 'fencing' } as const
  expect(plan(fenced, { sets: [current], replicas: [up] })).toEqual([{ kind: 'drop', setId: 'dpg.2' }])
  expect(plan(fenced, { sets: [{ ...current, isDropped: true }], replicas: [up] })).toEqual([])
  expect(plan({ ...fenced, growToGb: 5 })).toEqual([{ kind: 'fail_over' }])
  expect(plan({ ...fenced, role: 'standby', growToGb: 5 })).toEqual([])
  expect(plan({ failover: 'giving' })).toEqual([{ kind: 'fail_over' }])
})

test('the status says what runs of what is wanted', () => {
  const status = (datastore: Partial<Parameters<typeof statusOf>[0]>, ...workloads: Parameters<typeof statusOf>[1]) =>
    statusOf({ ...row, problem: null, ...datastore }, workloads)
  expect(status({}, { setId: 'dpg.2', phase: 'running', restarts: 0 })).toBe('available')
  expect(status({}, { setId: 'dpg.1', phase: 'running', restarts: 0 })).toBe('config_restart')
  expect(status({ growToGb: 5 })).toBe('updating_instance')
  expect(status({}, { setId: 'dpg.2', phase: 'pending', restarts: 1 })).toBe('unavailable')
  expect(status({ problem: 'It failed.' })).toBe('unavailable')
  expect(status({ suspendedBy: ['user'] })).toBe('suspended')
  expect(status({ phase: 'creating' })).toBe('creating')
  expect(status({ phase: 'recovering' })).toBe('recovery_in_progress')
})
