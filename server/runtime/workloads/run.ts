/** One run over a set: looks at what there is, decides, and takes steps until nothing is left but to wait. */
import type { InstanceState } from '../../engines/port/port.ts'
import type { Background } from './background.ts'
import { forgetWorkload, noteEnd } from './ends.ts'
import { freezeReplica, thawReplica } from './freeze.ts'
import type { Keeping } from './keeping.ts'
import { planWorkload, type WorkloadStep } from './plan.ts'
import { mayBegin } from './set-plan.ts'
import { deleteSet, type StoredSet, setById } from './set-store.ts'
import { shapeSet, situationOf } from './shape.ts'
import { keepWorkload, startWorkload } from './start.ts'
import { stopWorkload } from './stop.ts'
import { type StoredWorkload, workloadById, workloadsOfSet } from './store.ts'

const MAX_ROUNDS = 20
const STUCK_RETRY_MS = 5000
/** A stop that failed is begun again after so long; one that is under way is left alone. */
const STOP_CHECK_MS = 5000
const WAITING_CHECK_MS = 1000

/** Returns when to look again though nothing happens (ms since 1970), or undefined. */
export async function keepSet(keeping: Keeping, background: Background, setId: string): Promise<number | undefined> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const seen = await lookAt(keeping, setId)
    const { isChanged, isWaiting } = shapeSet(keeping, setId)
    const set = setById(keeping.db, setId)
    if (set === undefined) return undefined
    const planned = planReplicas(keeping, set, seen)
    if (planned.length === 0 && set.isDropped) return forgetSet(keeping, set)
    const brief = planned.filter(isBrief)
    for (const { workload, step } of brief) await take(keeping, workload, step)
    if (isChanged || brief.length > 0) keeping.tell(set)
    if (brief.length === 0) return earliest([...planned.map((one) => begin(keeping, background, one)), waitFor(keeping, isWaiting)])
  }
  keeping.log.error('set does not settle', { setId })
  return keeping.now() + STUCK_RETRY_MS
}

const waitFor = ({ now }: Keeping, isWaiting: boolean): number | undefined => (isWaiting ? now() + WAITING_CHECK_MS : undefined)

type Seen = Map<string, { phase: StoredWorkload['phase']; state: InstanceState | undefined }>

async function lookAt({ db, engine }: Keeping, setId: string): Promise<Seen> {
  const seen: Seen = new Map()
  for (const { id } of workloadsOfSet(db, setId)) {
    const phase = workloadById(db, id)?.phase
    if (phase === 'starting' || phase === 'running') seen.set(id, { phase, state: await engine.inspect(id) })
  }
  return seen
}

interface Planned {
  workload: StoredWorkload
  step: WorkloadStep | { kind: 'again' }
}

/** Asking the engine has taken its time: rows are read anew, and nothing is concluded from what was asked about another phase. */
function planReplicas(keeping: Keeping, set: StoredSet, seen: Seen): Planned[] {
  const situation = situationOf(keeping, set)
  const { now, engine, frozen } = keeping
  return situation.replicas.map((workload) => {
    const asked = seen.get(workload.id)
    const isBegun = workload.phase === 'starting' || workload.phase === 'running'
    if (isBegun && asked?.phase !== workload.phase) return { workload, step: { kind: 'again' } }
    const common = { now: now(), epoch: engine.epoch, policy: situation.policy, set }
    const own = { workload, seen: asked?.state, wasFrozen: frozen.has(workload.id), mayBegin: mayBegin(situation, workload) }
    return { workload, step: planWorkload({ ...common, ...own }) }
  })
}

type LongStep = Extract<WorkloadStep, { kind: 'wait' | 'keep' | 'stop' }>
type BriefStep = Exclude<Planned['step'], LongStep>

const isBrief = (planned: Planned): planned is { workload: StoredWorkload; step: BriefStep } =>
  planned.step.kind !== 'wait' && planned.step.kind !== 'keep' && planned.step.kind !== 'stop'

async function take(keeping: Keeping, workload: StoredWorkload, step: BriefStep): Promise<void> {
  switch (step.kind) {
    case 'again':
      return
    case 'start':
      return await startWorkload(keeping, workload.id)
    case 'freeze':
      return await freezeReplica(keeping, workload)
    case 'thaw':
      return await thawReplica(keeping, workload)
    case 'forget':
      return await forgetWorkload(keeping, workload)
    default:
      return await noteEnd(keeping, workload, step)
  }
}

function begin(keeping: Keeping, background: Background, { workload, step }: Planned): number | undefined {
  if (step.kind === 'wait') return step.until
  if (step.kind === 'keep') keepWorkload(keeping, background, { workload, endpoint: step.endpoint })
  if (step.kind !== 'stop') return undefined
  stopBeside(keeping, background, workload)
  return keeping.now() + STOP_CHECK_MS
}

function stopBeside(keeping: Keeping, background: Background, workload: StoredWorkload): void {
  background.run(`stop ${workload.id}`, async () => {
    await stopWorkload(keeping, workload)
    if (workload.setId !== null) keeping.changed(workload.setId)
  })
}

function forgetSet(keeping: Keeping, set: StoredSet): undefined {
  deleteSet(keeping.db, set.id)
  keeping.tell(set)
}

function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}
