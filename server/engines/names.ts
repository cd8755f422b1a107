/** What can run workloads, by the names that CP_ENGINE takes. */
export const engineNames = ['process'] as const
export type EngineName = (typeof engineNames)[number]
