import type { InstanceSpec } from '../../engines/port/workload.ts'
import { newInstanceId } from '../../platform/id.ts'
import type { HostStack } from '../../platform/stack.ts'
import type { WorkloadEnd, WorkloadOwner } from '../../runtime/workloads/owner.ts'
import { type StoredWorkload, workloadById } from '../../runtime/workloads/store.ts'
import type { AppContext } from '../context.ts'
import { networkOf } from '../private-network/names/network.ts'
import { appOutputOf } from '../workloads/output.ts'
import { rescueFromFullDisk } from './disk-growth.ts'
import { recordDatastoreEvent } from './events.ts'
import { type DatastoreServer, type DatastoreServers, DISK_FULL_EXIT, serverOf } from './kind.ts'
import { mayBegin, setIdOf } from './plan.ts'
import { datastoreById, OWNER_KIND, type StoredDatastore, updateDatastore } from './store.ts'

export const SERVER = { ownerKind: OWNER_KIND, purpose: 'server' } as const

/** Where servers find their volume, if their machine can mount one there. */
export const VOLUME_PATH = '/var/lib/datastore'

/** A database that is down takes its services along: it is tried again sooner than they are. */
const LONGEST_DELAY_MS = 8000

const stack: HostStack = { kind: 'host', folders: [], searchPath: ['bin'] }

export function datastoreOwner(context: AppContext, servers: DatastoreServers): WorkloadOwner {
  const datastoreOf = ({ ownerId }: { ownerId: string }): StoredDatastore => {
    const datastore = datastoreById(context.db, ownerId)
    if (datastore === undefined) throw new Error(`There is no datastore ${ownerId} any more`)
    return datastore
  }
  return {
    ...SERVER,
    policy: { restarts: 'always', longestDelayMs: LONGEST_DELAY_MS },
    newId: ({ ownerId }) => newInstanceId(ownerId),
    isHeld: ({ ownerId }) => isHeld(context, ownerId),
    isExclusive: () => true,
    specOf: (workload) => specOf(context, servers, { workload, datastore: datastoreOf(workload) }),
    follow: (workload) => context.outputLogs.follow(outputOf(workload)),
    closeOutput: (workload) => context.outputLogs.close(outputOf(workload)),
    untilReady: async ({ id }, signal) => {
      const workload = workloadById(context.db, id)
      if (workload?.address == null || workload.port === null) return undefined
      const datastore = datastoreOf(workload)
      const server = serverOf(servers, datastore)
      await server.untilReady(datastore, { host: workload.address, port: workload.port }, signal)
      noteReady(context, server, workload)
      return { port: workload.port }
    },
    onEnd: (workload, end) => noteEnd(context, servers, { workload, datastore: datastoreById(context.db, workload.ownerId), end }),
    graceMs: (workload) => serverOf(servers, datastoreOf(workload)).graceMs,
  }
}

function isHeld({ db, engine }: AppContext, id: string): boolean {
  const datastore = datastoreById(db, id)
  return datastore === undefined || !mayBegin({ datastore, grow: engine.volumes.capabilities.grow })
}

async function specOf(
  context: AppContext,
  servers: DatastoreServers,
  { workload, datastore }: { workload: StoredWorkload; datastore: StoredDatastore },
): Promise<InstanceSpec> {
  const { id, number, volumeId } = datastore
  const server = serverOf(servers, datastore)
  return {
    ...(await server.specOf(datastore)),
    owner: { id, number },
    instanceId: workload.id,
    deployId: '',
    outputName: workload.id,
    listens: { preferredPort: server.port },
    volume: { volumeId, mountPath: VOLUME_PATH },
    network: { name: networkOf(context.db, datastore) },
    stack,
  }
}

const outputOf = ({ id, ownerId }: StoredWorkload) => appOutputOf({ id, serviceId: ownerId, deployId: null })

function noteReady(context: AppContext, server: DatastoreServer, { ownerId, restarts, setId }: StoredWorkload): void {
  const { db, now } = context
  db.transaction(() => {
    const datastore = datastoreById(db, ownerId)
    if (datastore === undefined || datastore.phase === 'deleting') return
    if (setId === setIdOf(datastore)) server.onReady?.(datastore)
    const hadProblem = datastore.problem !== null
    if (hadProblem) updateDatastore(db, ownerId, { problem: null }, now())
    if (datastore.phase === 'creating' || hadProblem || restarts > 0) recordDatastoreEvent(context, datastore, 'available')
  })()
}

interface Ended {
  workload: StoredWorkload
  datastore: StoredDatastore | undefined
  end: WorkloadEnd
}

function noteEnd(context: AppContext, servers: DatastoreServers, { workload, datastore, end }: Ended): void {
  if (datastore === undefined || end.kind !== 'failed') return
  const { exit } = end
  const why = exit.exitCode === DISK_FULL_EXIT ? rescueFromFullDisk(context, datastore) : wordsOf(exit)
  const wasSeen = exit.exitCode !== null || exit.signal !== null
  const isLasting = wasSeen && workload.setId === setIdOf(datastore) && workload.phase === 'starting' && workload.restarts > 0
  const problem = serverOf(servers, datastore).onFailed?.(datastore, { why, isLasting }) ?? why
  if (datastore.problem === null) recordDatastoreEvent(context, datastore, 'unavailable', { reason: problem })
  updateDatastore(context.db, datastore.id, { problem }, context.now())
}

/** A shell's word for SIGKILL, by which what it ran has ended. */
const KILLED_EXIT = 137

function wordsOf({ why, exitCode, signal }: Extract<WorkloadEnd, { kind: 'failed' }>['exit']): string {
  const wasKilled = signal === 'SIGKILL' || exitCode === KILLED_EXIT
  if (why === 'out_of_memory' && wasKilled) return 'Its server ran out of the memory of its plan. Choose a larger plan.'
  if (signal !== null) return `Its server was ended by ${signal}. Its log may say why.`
  return exitCode === null ? 'Its server could not be started.' : `Its server ended with the exit code ${exitCode}. Its log says why.`
}
