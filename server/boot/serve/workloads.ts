import { instanceOwner } from '../../apps/instances/owner.ts'
import { jobOwner } from '../../apps/jobs/owner.ts'
import { stepOwners } from '../../apps/pipeline/step-owner.ts'
import type { WorkloadOwner } from '../../runtime/workloads/owner.ts'
import { createSupervisor, type Supervisor } from '../../runtime/workloads/supervisor.ts'
import type { Context } from './context.ts'

/** Each kind of owner that has something run stands here. */
const ownersIn = (context: Context): WorkloadOwner[] => [instanceOwner(context), jobOwner(context), ...stepOwners(context)]

/** The supervisor of everything that runs. */
export const superviseWorkloads = (context: Context): Supervisor =>
  createSupervisor({ ...context, signal: context.stopping }, ownersIn(context))
