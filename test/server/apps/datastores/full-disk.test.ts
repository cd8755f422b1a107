import { afterAll, beforeAll, expect, test } from 'vitest'
import { growByItself } from '../../../../server/apps/datastores/disk-growth.ts'
import { datastoreOwner } from '../../../../server/apps/datastores/owner.ts'
import { datastoreById, updateDatastore } from '../../../../server/apps/datastores/store.ts'
import { revertParameters } from '../../../../server/apps/postgres/prove-parameters.ts'
import { postgresById, updatePostgres } from '../../../../server/apps/postgres/store.ts'
import type { WorkloadEnd } from '../../../../server/runtime/workloads/owner.ts'
import { insertWorkload, type StoredWorkload, updateWorkload, workloadById } from '../../../../server/runtime/workloads/store.ts'
import { bytesOf } from '../../../../shared/disk.ts'
import { addDatastore } from '../../../support/datastores.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

const FULL = 76

const firstWorkspace = () => server.db.query<{ id: string }, []>('SELECT id FROM workspaces LIMIT 1').get()?.id ?? ''

/** A database with a server that is on its way up for the second time. */
function coming(): { id: string; workload: StoredWorkload } {
  const { db } = server.context
  const id = addDatastore(server, { workspaceId: firstWorkspace() })
  const setId = `${id}.${datastoreById(db, id)?.generation}`
  insertWorkload(db, { id: `${id}-1`, ownerKind: 'datastore', ownerId: id, purpose: 'server', createdAt: 0 })
  updateWorkload(db, `${id}-1`, { phase: 'starting', restarts: 1 })
  const workload = workloadById(db, `${id}-1`)
  if (workload === undefined) throw new Error('There is no workload')
  return { id, workload: { ...workload, setId } }
}

function end(workload: StoredWorkload, exitCode: number): void {
  const failed: WorkloadEnd = { kind: 'failed', exit: { at: 0, exitCode, signal: null }, delayMs: 0 }
  const postgres = { onFailed: revertParameters.bind(undefined, server.context) }
  datastoreOwner(server.context, { postgres: postgres as never }).onEnd?.(workload, failed)
}

test('a server that cannot come up on its full disk is given a larger one, once', () => {
  const { db } = server.context
  const { id, workload } = coming()
  end(workload, 1)
  expect(datastoreById(db, id)?.growToGb).toBeNull()
  end(workload, FULL)
  expect(datastoreById(db, id)).toMatchObject({ growToGb: null, problem: expect.stringContaining('disk of the machine is full') })
  db.query("UPDATE datastores SET volume_kind = 'image' WHERE id = ?").run(id)
  end(workload, FULL)
  expect(datastoreById(db, id)).toMatchObject({ growToGb: 2, problem: expect.stringContaining('It grows by 1 GB') })
  end(workload, FULL)
  expect(datastoreById(db, id)?.growToGb).toBe(2)
})

test('a disk grows by itself where that is wished, and that it cannot is told once', () => {
  const { context } = server
  const { id } = coming()
  const told = () =>
    server.db.query<{ type: string }, [string]>("SELECT type FROM events WHERE service_id = ? AND type LIKE '%disk%'").all(id).length
  const look = (room: number, usedBytes: number, now: number) => {
    const volumes = { ...context.engine.volumes, roomBytes: () => bytesOf(room) }
    const datastore = datastoreById(server.db, id)
    if (datastore === undefined) throw new Error('There is no datastore')
    const given = { ...context, now: () => now, engine: { ...context.engine, volumes } }
    growByItself(given, { growthStepGb: () => 5 } as never, { datastore, space: { usedBytes, sizeBytes: 100 } })
    return datastoreById(server.db, id)?.growToGb
  }
  const MINUTE = 60_000
  expect([look(9, 89, 0), told()]).toEqual([null, 0])
  expect([look(0, 90, 0), told()]).toEqual([null, 1])
  expect([look(9, 90, MINUTE), told()]).toEqual([null, 1])
  expect([look(0, 90, 11 * MINUTE), told()]).toEqual([null, 1])
  // Emptied meanwhile, it is looked at anew.
  expect([look(0, 50, 12 * MINUTE), look(0, 95, 13 * MINUTE), told()]).toEqual([null, null, 2])
  expect([look(2, 95, 24 * MINUTE), told()]).toEqual([3, 2])
  expect(look(9, 95, 50 * MINUTE)).toBe(3)
})

test('parameters are taken back from one that has come up with others, not at its first failure and not twice', () => {
  const { db } = server.context
  const { id, workload } = coming()
  updatePostgres(db, id, { parameterOverrides: { work_mem: '5MB', shared_buffers: '9GB' }, provenParameters: { work_mem: '4MB' } })
  end({ ...workload, restarts: 0 }, 1)
  end({ ...workload, phase: 'running' }, 1)
  end({ ...workload, setId: `${id}.0` }, 1)
  expect(postgresById(db, id)?.parameterOverrides.shared_buffers).toBe('9GB')
  end(workload, 1)
  expect(postgresById(db, id)?.parameterOverrides).toEqual({ work_mem: '4MB' })
  const { problem = '', generation } = datastoreById(db, id) ?? {}
  expect(problem).toContain('shared_buffers = 9GB, work_mem = 5MB')
  updateDatastore(db, id, { problem: null }, 0)
  end(workload, 1)
  expect(datastoreById(db, id)).toMatchObject({ generation, problem: expect.stringContaining('exit code 1') })
})
