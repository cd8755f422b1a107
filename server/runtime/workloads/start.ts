import type { Endpoint } from '../../engines/port/port.ts'
import { pause } from '../../platform/work/clock.ts'
import type { Background } from './background.ts'
import { noteFailedStart } from './ends.ts'
import type { Keeping } from './keeping.ts'
import type { WorkloadOwner } from './owner.ts'
import { mayBegin } from './set-plan.ts'
import { setById } from './set-store.ts'
import { situationOf } from './shape.ts'
import { leaveEndpoint, moveWorkload, type StoredWorkload, updateWorkload, workloadById } from './store.ts'

const READY_RETRY_MS = 1000

export async function startWorkload(keeping: Keeping, id: string): Promise<void> {
  const { db, engine, now } = keeping
  const waiting = workloadById(db, id)
  if (waiting?.phase !== 'pending') return
  const owner = keeping.ownerOf(waiting)
  await owner.beforeStart?.(waiting)
  // Preparing has taken its time, in which what holds it back may have come.
  if (!isAllowed(keeping, waiting)) return
  if (!moveWorkload(db, waiting, { phase: 'starting', epoch: engine.epoch, startedAt: now() })) return
  const workload = workloadById(db, id)
  if (workload === undefined) return
  try {
    const spec = await owner.specOf(workload)
    owner.follow(workload)
    await forgetEarlierRun(keeping, id)
    await engine.start(spec)
  } catch (error) {
    // An answer may be lost on its way: what is known to the engine has been started, though it may have ended meanwhile.
    if ((await engine.inspect(id)) === undefined) return await noteFailedStart(keeping, workload, error)
  }
  await noteStarted(keeping, workload)
}

function isAllowed(keeping: Keeping, { id, setId }: StoredWorkload): boolean {
  const [workload, set] = [workloadById(keeping.db, id), setId === null ? undefined : setById(keeping.db, setId)]
  return workload?.phase === 'pending' && set !== undefined && mayBegin(situationOf(keeping, set), workload)
}

/** We may have died between writing down that it ended and having the engine forget it; the engine starts no id that has ended. */
async function forgetEarlierRun({ engine }: Keeping, id: string): Promise<void> {
  if ((await engine.inspect(id))?.status === 'exited') await engine.remove(id)
}

async function noteStarted(keeping: Keeping, workload: StoredWorkload): Promise<void> {
  const { engine } = keeping
  const owner = keeping.ownerOf(workload)
  const state = await engine.inspect(workload.id)
  if (state?.status === 'running') noteEndpoint(keeping, workload, state.endpoint)
  if (owner.untilReady === undefined) markRunning(keeping, workload)
}

function markRunning(keeping: Keeping, { id }: StoredWorkload): void {
  const { db } = keeping
  db.transaction(() => {
    const workload = workloadById(db, id)
    if (workload !== undefined && moveWorkload(db, { id, phase: 'starting' }, { phase: 'running' }))
      keeping.ownerOf(workload).onStarted?.(workload)
  })()
}

/** Returns whether it is reached elsewhere than before. Whoever has the endpoint in the table still has ended, and was not looked at since: engines give nothing to two. */
function noteEndpoint({ db, ownerOf }: Keeping, workload: StoredWorkload, endpoint: Endpoint | undefined): boolean {
  const { id, address, node } = workload
  if (endpoint === undefined || endpoint.host === address) return false
  const port = portAt(ownerOf(workload), workload, endpoint)
  if (port === null) return false
  db.transaction(() => {
    leaveEndpoint(db, { node, address: endpoint.host, port })
    updateWorkload(db, id, { address: endpoint.host, port })
  })()
  return true
}

function portAt(owner: WorkloadOwner, workload: StoredWorkload, { host, port }: Endpoint): number | null {
  if (port === undefined) return workload.port
  return owner.portAt?.(workload, { host, port }) ?? port
}

export function keepWorkload(
  keeping: Keeping,
  background: Background,
  { workload, endpoint }: { workload: StoredWorkload; endpoint: Endpoint | undefined },
): void {
  if (noteEndpoint(keeping, workload, endpoint)) keeping.tell(workload)
  if (workload.phase !== 'starting') return
  if (keeping.ownerOf(workload).untilReady === undefined) markRunning(keeping, workload)
  // Each start has a wait of its own: the one for a run that died ends by itself.
  else background.run(`ready ${workload.id} ${workload.restarts}`, () => awaitReady(keeping, workload))
}

async function awaitReady(keeping: Keeping, { id, restarts }: StoredWorkload): Promise<void> {
  const { db, engine, signal } = keeping
  const ended = new AbortController()
  const stopListening = engine.onExit((exited) => {
    if (exited === id) ended.abort()
  })
  const workload = workloadById(db, id)
  try {
    // An end that came before we listened is told to nobody.
    if (workload === undefined || (await engine.inspect(id))?.status !== 'running') return
    const found = await keeping.ownerOf(workload).untilReady?.(workload, AbortSignal.any([signal, ended.signal]))
    if (workloadById(db, id)?.restarts === restarts) moveWorkload(db, { id, phase: 'starting' }, { phase: 'running', ...found })
  } catch (error) {
    if (ended.signal.aborted) return
    // Whoever is told of the end of this wait begins another at once.
    await pause(keeping, READY_RETRY_MS, signal)
    throw error
  } finally {
    stopListening()
    if (workload?.setId != null) keeping.changed(workload.setId)
  }
}
