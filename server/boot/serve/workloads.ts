import { instanceOwner } from '../../apps/instances/owner.ts'
import { jobOwner } from '../../apps/jobs/owner.ts'
import { stepOwners } from '../../apps/pipeline/step-owner.ts'
import { createKeeper, type Keeper } from '../../runtime/workloads/keeper.ts'
import type { WorkloadOwner } from '../../runtime/workloads/owner.ts'
import type { Context } from './context.ts'

/** Each kind of owner that has something run stands here. */
const ownersIn = (context: Context): WorkloadOwner[] => [instanceOwner(context), jobOwner(context), ...stepOwners(context)]

/** The keeper of everything that runs. It asks for the context when there is something to keep. */
export const keepWorkloads = (base: Omit<Context, 'work' | 'sets'>, context: () => Context): Keeper =>
  createKeeper({ ...base, signal: base.stopping }, () => ownersIn(context()))
