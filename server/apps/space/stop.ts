import { AppError } from '../../../shared/error.ts'
import { discardServiceFolder } from '../../platform/service-folders.ts'
import type { SpaceUser } from '../../runtime/space/heaviest-user.ts'
import type { Shortage } from '../../runtime/space/reserve.ts'
import { workloadsOf } from '../../runtime/workloads/store.ts'
import { straysIn } from '../../runtime/workloads/strays.ts'
import type { AppContext } from '../context.ts'
import { holdBackInstances, instancesOf } from '../workloads/instance-store.ts'
import { openJobs } from '../workloads/job-store.ts'
import { BUILD_STEP } from '../workloads/step-store.ts'
import type { Candidate } from './candidates.ts'

const MIB = 1024 * 1024
const HELD_BACK_MS = 10_000

interface Found {
  heaviest: SpaceUser
  shortage: Shortage
}

/** Frees /tmp of a service, folder and cache of a build, and says so where its people look. */
export async function stopHeaviest(context: AppContext, candidate: Candidate, found: Found): Promise<void> {
  if (candidate.kind === 'build') return await stopBuild(context, candidate, found)
  await stopService(context, candidate, found)
}

async function stopService(context: AppContext, { owner }: Candidate, found: Found): Promise<void> {
  const { engine, db, exitReasons, shells } = context
  const reason = `It filled the disk: ${figures(found)} in its home and /tmp. What was in /tmp was removed; it starts again when there is space`
  for (const { id } of instancesOf(db, owner.id)) exitReasons.set(id, reason)
  for (const { id } of openJobs(db, owner.id)) exitReasons.set(id, `The service filled the disk: ${figures(found)} in its home and /tmp.`)
  shells.endAll(owner.id, `The service filled the disk: ${figures(found)} in its home and /tmp.`)
  const own = workloadsOf(db, 'service', owner.id).filter(({ purpose }) => purpose !== BUILD_STEP.purpose)
  const strays = straysIn(db).filter(({ serviceId }) => serviceId === owner.id)
  await Promise.all([...own, ...strays].map(({ id }) => engine.stop(id, { graceMs: 0 })))
  holdBack(context, owner.id)
  await engine.emptyTemporary(owner)
}

async function stopBuild({ work, paths }: AppContext, { id, owner }: Candidate, found: Found): Promise<void> {
  const reason = `It filled the disk: ${figures(found)} in the build and its cache, which was removed. Build less into it, or choose a larger build plan.`
  work.interruptDeploy(id, new AppError('bad_request', reason))
  await discardServiceFolder(paths, { id: owner.id, uid: owner.number }, 'cache')
}

const figures = ({ heaviest, shortage: { unit, free, reserve } }: Found): string =>
  unit === 'bytes'
    ? `${mib(free)} were left of it, where ${mib(reserve)} must stay free, and it held ${mib(heaviest.held)}`
    : `room for ${free} files was left on it, where room for ${Math.ceil(reserve)} must stay, and it held ${heaviest.held} files`

const mib = (bytes: number): string => `${Math.round(bytes / MIB)} MB`

export function holdBack({ db, now }: Pick<AppContext, 'db' | 'now'>, serviceId: string): void {
  holdBackInstances(db, serviceId, now() + HELD_BACK_MS)
}
