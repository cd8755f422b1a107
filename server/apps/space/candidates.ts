import { join } from 'node:path'
import { buildPlans, plans } from '../../../shared/plan.ts'
import type { Owner } from '../../engines/port/workload.ts'
import { servicePathsOf } from '../../platform/paths.ts'
import { allWorkloads } from '../../runtime/workloads/store.ts'
import { straysIn } from '../../runtime/workloads/strays.ts'
import type { AppContext } from '../context.ts'
import { releaseById } from '../deploys/release-store.ts'
import { type StoredDeploy, unfinishedDeploys } from '../deploys/store.ts'
import { diskOfService, type StoredDisk } from '../disks/store.ts'
import { ownerOf } from '../launch/launch.ts'
import { type StoredService, serviceById } from '../services/store.ts'
import { instancesOf } from '../workloads/instance-store.ts'

export interface Candidate {
  id: string
  kind: 'service' | 'build'
  owner: Owner
  /** Where a build works; what workloads of a service hold is asked of their engine. */
  folders: string[]
  volumeId?: string
  diskMb: number
}

const MIB_PER_GIB = 1024

type Given = Pick<AppContext, 'db' | 'engine' | 'paths'>

export function candidatesOf({ db, engine, paths }: Given): Candidate[] {
  const begun = allWorkloads(db).flatMap(({ ownerId, phase }) => (phase === 'pending' ? [] : [ownerId]))
  const running = new Set([...begun, ...straysIn(db).map(({ serviceId }) => serviceId)])
  const services = [...running].flatMap((id) => serviceById(db, id) ?? [])
  const builds = unfinishedDeploys(db).filter(({ status }) => status === 'build_in_progress')
  return [
    ...services.map((service) => serviceCandidate({ db, engine }, service)),
    ...builds.flatMap((deploy) => buildCandidate({ db, paths }, deploy)),
  ]
}

function serviceCandidate({ db, engine }: Pick<Given, 'db' | 'engine'>, service: StoredService): Candidate {
  const running = instancesOf(db, service.id).at(-1)
  const plan = (running && releaseById(db, running.releaseId)?.settings.plan) ?? service.settings.plan
  const disk = diskOfService(db, service.id)
  const unbounded = disk === undefined || isBounded(engine, disk) ? undefined : disk
  return {
    id: service.id,
    kind: 'service',
    owner: ownerOf(service),
    folders: [],
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
  return [{ id, kind: 'build', owner: ownerOf(service), folders: [join(own.builds, id), own.cache], diskMb }]
}
