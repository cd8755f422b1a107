import { diskOfService } from '../../apps/disks/store.ts'
import { instanceOwner } from '../../apps/instances/owner.ts'
import { jobOwner } from '../../apps/jobs/owner.ts'
import { jobById } from '../../apps/workloads/job-store.ts'
import type { WorkloadOwner } from '../../runtime/workloads/owner.ts'
import { workloadById } from '../../runtime/workloads/store.ts'
import type { StrayOptions } from '../../runtime/workloads/strays.ts'
import { createSupervisor, type Supervisor } from '../../runtime/workloads/supervisor.ts'
import type { Context } from './context.ts'

/** Each kind of owner that has something run stands here. */
const ownersIn = (context: Context): WorkloadOwner[] => [instanceOwner(context), jobOwner(context)]

/** The supervisor of everything that runs. */
export const superviseWorkloads = (context: Context): Supervisor =>
  createSupervisor({ ...context, signal: context.stopping }, ownersIn(context))

/** Two instances on one disk would damage what is on it, so a service with a disk keeps no strays. */
export const strayOptions = ({ db, engine, log, now }: Context): StrayOptions => ({
  ...{ db, engine, log, now },
  isKnown: (id) => workloadById(db, id) !== undefined || jobById(db, id)?.finishedAt === null,
  mayStay: (serviceId) => diskOfService(db, serviceId) === undefined,
})
