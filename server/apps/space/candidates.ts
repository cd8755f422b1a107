import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { buildPlans, plans } from '../../../shared/plan.ts'
import { recordDirIn } from '../../engines/process/records/record.ts'
import { layerOf } from '../../engines/process/writable-layer.ts'
import { servicePathsOf } from '../../platform/paths.ts'
import type { Owner } from '../../runtime/owner.ts'
import { allWorkloads } from '../../runtime/workloads/store.ts'
import { straysIn } from '../../runtime/workloads/strays.ts'
import type { AppContext } from '../context.ts'
import { releaseById } from '../deploys/release-store.ts'
import { type StoredDeploy, unfinishedDeploys } from '../deploys/store.ts'
import { diskOfService, type StoredDisk } from '../disks/store.ts'
import { ownerOf } from '../services/owner.ts'
import { type StoredService, serviceById } from '../services/store.ts'
import { instancesOf } from '../workloads/instance-store.ts'

export interface Candidate {
  id: string
  kind: 'service' | 'build'
  owner: SpaceOwner
  folders: string[]
  /** Its volume, where that can fill what others need. */
  volumeId?: string
  diskMb: number
}

const MIB_PER_GIB = 1024

type Given = Pick<AppContext, 'db' | 'engine' | 'paths'>

export type SpaceOwner = Owner & { uid: number }

export function candidatesOf({ db, engine, paths }: Given): Candidate[] {
  const begun = allWorkloads(db).flatMap(({ id, ownerId, phase }) => (phase === 'pending' ? [] : [{ id, serviceId: ownerId }]))
  const running = Map.groupBy([...begun, ...straysIn(db)], ({ serviceId }) => serviceId)
  const services = [...running.keys()].flatMap((id) => serviceById(db, id) ?? [])
  const idsOf = (serviceId: string) => (running.get(serviceId) ?? []).map(({ id }) => id)
  const builds = unfinishedDeploys(db).filter(({ status }) => status === 'build_in_progress')
  return [
    ...services.map((service) => serviceCandidate({ db, engine, paths }, service, idsOf(service.id))),
    ...builds.flatMap((deploy) => buildCandidate({ db, paths }, deploy)),
  ]
}

/** Jobs, commands before a deploy and shells have layers of their own as well as instances. */
function serviceCandidate({ db, engine, paths }: Given, service: StoredService, workloadIds: readonly string[]): Candidate {
  const own = servicePathsOf(paths, service.id)
  const running = instancesOf(db, service.id).at(-1)
  // A shell in an instance has no layer, nor has anybody on some machines, and a missing folder cannot be measured.
  const layers = workloadIds.map((id) => layerOf(recordDirIn(paths.engineState, id))).filter((folder) => existsSync(folder))
  const plan = (running && releaseById(db, running.releaseId)?.settings.plan) ?? service.settings.plan
  const disk = diskOfService(db, service.id)
  const unbounded = disk === undefined || isBounded(engine, disk) ? undefined : disk
  return {
    id: service.id,
    kind: 'service',
    owner: { ...ownerOf(service), uid: service.uid },
    folders: [own.home, own.tmp, own.output, ...layers],
    ...(unbounded && { volumeId: unbounded.id }),
    diskMb: plans[plan].diskMb + (unbounded?.sizeGb ?? 0) * MIB_PER_GIB,
  }
}

/** One of a kind that the engine has no more is given to nobody, so that nobody can fill it. */
const isBounded = ({ volumes }: Given['engine'], { kind }: StoredDisk): boolean =>
  volumes.capabilities.kinds.find(({ name }) => name === kind)?.isBounded ?? true

function buildCandidate({ db, paths }: Pick<Given, 'db' | 'paths'>, { id, serviceId }: StoredDeploy): Candidate[] {
  const service = serviceById(db, serviceId)
  if (service === undefined) return []
  const own = servicePathsOf(paths, serviceId)
  const { diskMb } = buildPlans[service.settings.buildPlan]
  return [{ id, kind: 'build', owner: { ...ownerOf(service), uid: service.uid }, folders: [join(own.builds, id), own.cache], diskMb }]
}
