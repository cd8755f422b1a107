import type { Endpoint } from '../../engines/port/port.ts'
import type { Background } from './background.ts'
import { noteFailedStart } from './ends.ts'
import type { WorkloadOwner } from './owner.ts'
import { leaveEndpoint, moveWorkload, type StoredWorkload, updateWorkload, workloadById } from './store.ts'
import type { Supervision } from './supervision.ts'

export async function startWorkload(supervision: Supervision, id: string): Promise<void> {
  const { db, engine, now } = supervision
  const waiting = workloadById(db, id)
  if (waiting?.phase !== 'pending') return
  const owner = supervision.ownerOf(waiting)
  await owner.beforeStart?.(waiting)
  if (!moveWorkload(db, waiting, { phase: 'starting', epoch: engine.epoch, startedAt: now() })) return
  const workload = workloadById(db, id)
  if (workload === undefined) return
  try {
    const spec = await owner.specOf(workload)
    owner.follow(workload)
    await forgetEarlierRun(supervision, id)
    await engine.start(spec)
  } catch (error) {
    // An answer may be lost on its way: what is known to the engine has been started, though it may have ended meanwhile.
    if ((await engine.inspect(id)) === undefined) return await noteFailedStart(supervision, workload, error)
  }
  await noteStarted(supervision, workload)
}

/** We may have died between writing down that it ended and having the engine forget it; the engine starts no id that has ended. */
async function forgetEarlierRun({ engine }: Supervision, id: string): Promise<void> {
  if ((await engine.inspect(id))?.status === 'exited') await engine.remove(id)
}

async function noteStarted(supervision: Supervision, workload: StoredWorkload): Promise<void> {
  const { engine } = supervision
  const owner = supervision.ownerOf(workload)
  const state = await engine.inspect(workload.id)
  if (state?.status === 'running') noteEndpoint(supervision, workload, state.endpoint)
  if (owner.untilReady === undefined) markRunning(supervision, workload)
}

function markRunning(supervision: Supervision, { id }: StoredWorkload): void {
  const { db } = supervision
  db.transaction(() => {
    const workload = workloadById(db, id)
    if (workload !== undefined && moveWorkload(db, { id, phase: 'starting' }, { phase: 'running' }))
      supervision.ownerOf(workload).onStarted?.(workload)
  })()
}

/** Whoever has the endpoint in the table still has ended, and was not looked at since: engines give nothing to two. */
function noteEndpoint({ db, ownerOf }: Supervision, workload: StoredWorkload, endpoint: Endpoint | undefined): void {
  const { id, address, node } = workload
  if (endpoint === undefined || endpoint.host === address) return
  const port = portAt(ownerOf(workload), workload, endpoint)
  if (port === null) return
  db.transaction(() => {
    leaveEndpoint(db, { node, address: endpoint.host, port })
    updateWorkload(db, id, { address: endpoint.host, port })
  })()
}

function portAt(owner: WorkloadOwner, workload: StoredWorkload, { host, port }: Endpoint): number | null {
  if (port === undefined) return workload.port
  return owner.portAt?.(workload, { host, port }) ?? port
}

export function keepWorkload(
  supervision: Supervision,
  background: Background,
  { workload, endpoint }: { workload: StoredWorkload; endpoint: Endpoint | undefined },
): void {
  noteEndpoint(supervision, workload, endpoint)
  if (workload.phase !== 'starting') return
  if (supervision.ownerOf(workload).untilReady === undefined) markRunning(supervision, workload)
  // Each start has a wait of its own: the one for a run that died ends by itself.
  else background.run(`ready ${workload.id} ${workload.restarts}`, () => awaitReady(supervision, workload))
}

async function awaitReady(supervision: Supervision, { id, restarts }: StoredWorkload): Promise<void> {
  const { db, engine, signal } = supervision
  const ended = new AbortController()
  const stopListening = engine.onExit((exited) => {
    if (exited === id) ended.abort()
  })
  const workload = workloadById(db, id)
  try {
    if (workload === undefined) return
    const found = await supervision.ownerOf(workload).untilReady?.(workload, AbortSignal.any([signal, ended.signal]))
    if (workloadById(db, id)?.restarts === restarts) moveWorkload(db, { id, phase: 'starting' }, { phase: 'running', ...found })
  } catch (error) {
    if (!ended.signal.aborted) throw error
  } finally {
    stopListening()
    if (workload !== undefined) supervision.changed(workload)
  }
}
