/**
 * Names are Render's, so that its clients' values mean the same here; the figures are ours. `cpu` in cores, `memoryMb` and `diskMb` in MiB,
 * `pids` in processes and threads; `diskMb` is for what it writes outside persistent disks.
 */
export const plans = {
  free: { cpu: 0.1, memoryMb: 256, pids: 128, diskMb: 1024 },
  starter: { cpu: 0.5, memoryMb: 512, pids: 256, diskMb: 5120 },
  standard: { cpu: 1, memoryMb: 2048, pids: 512, diskMb: 10_240 },
  pro: { cpu: 2, memoryMb: 4096, pids: 1024, diskMb: 20_480 },
  pro_plus: { cpu: 4, memoryMb: 8192, pids: 2048, diskMb: 40_960 },
  pro_max: { cpu: 4, memoryMb: 16_384, pids: 2048, diskMb: 81_920 },
  pro_ultra: { cpu: 8, memoryMb: 32_768, pids: 4096, diskMb: 163_840 },
} as const

export type PlanName = keyof typeof plans
export const planNames = Object.keys(plans) as PlanName[]
export const defaultPlan: PlanName = 'starter'

export const buildPlans = {
  starter: { cpu: 2, memoryMb: 4096, pids: 2048, diskMb: 10_240 },
  performance: { cpu: 8, memoryMb: 16_384, pids: 8192, diskMb: 51_200 },
} as const

export type BuildPlanName = keyof typeof buildPlans
export const buildPlanNames = Object.keys(buildPlans) as BuildPlanName[]
export const defaultBuildPlan: BuildPlanName = 'starter'
