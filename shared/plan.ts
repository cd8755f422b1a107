/**
 * What an instance of each plan may use. Names are Render's, so that its clients' values mean the same here;
 * the figures are ours, chosen to divide a small VM. `cpu` in cores, `memoryMb` in MiB, `pids` in processes and threads.
 */
export const plans = {
  free: { cpu: 0.1, memoryMb: 256, pids: 128 },
  starter: { cpu: 0.5, memoryMb: 512, pids: 256 },
  standard: { cpu: 1, memoryMb: 2048, pids: 512 },
  pro: { cpu: 2, memoryMb: 4096, pids: 1024 },
  pro_plus: { cpu: 4, memoryMb: 8192, pids: 2048 },
  pro_max: { cpu: 4, memoryMb: 16_384, pids: 2048 },
  pro_ultra: { cpu: 8, memoryMb: 32_768, pids: 4096 },
} as const

export type PlanName = keyof typeof plans
export const planNames = Object.keys(plans) as PlanName[]
export const defaultPlan: PlanName = 'starter'

/** What a build may use, by build plan. */
export const buildPlans = {
  starter: { cpu: 2, memoryMb: 4096, pids: 2048 },
  performance: { cpu: 8, memoryMb: 16_384, pids: 8192 },
} as const

export type BuildPlanName = keyof typeof buildPlans
export const buildPlanNames = Object.keys(buildPlans) as BuildPlanName[]
export const defaultBuildPlan: BuildPlanName = 'starter'
