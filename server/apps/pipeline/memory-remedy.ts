import { type BuildPlanName, buildPlanNames, buildPlans } from '../../../shared/plan.ts'

/** What a person can do about a build that wants more memory than its plan has, as the end of a sentence. */
export function memoryRemedy({ name, buildPlan }: { name: string; buildPlan: BuildPlanName }): string {
  const { memoryMb } = buildPlans[buildPlan]
  const has = `its build plan ${buildPlan} has ${memoryMb} MiB`
  const larger = buildPlanNames.find((plan) => buildPlans[plan].memoryMb > memoryMb)
  if (larger === undefined) return `${has}, and none has more: let the build do less at a time`
  return `${has}: set buildPlan to ${larger}, which has ${buildPlans[larger].memoryMb} (cpctl services update ${name} --build-plan ${larger})`
}
