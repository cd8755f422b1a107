import { allQuotas, type QuotaName } from '../../../shared/quota.ts'
import type { Machine } from '../../platform/machine.ts'

export type Limits = Readonly<Partial<Record<QuotaName, number>>>

const GIB = 1024 ** 3
/** Plans are upper bounds that few services reach, so more may be promised than there is. */
const OVERCOMMIT = { cores: 4, memory: 2 }

/** The usual limits are enough for a team, and too little to fill a machine with. */
export const usualLimits = ({ cpu, memoryBytes }: Machine): Record<QuotaName, number> => ({
  services: 50,
  instances: 100,
  datastores: 20,
  cores: OVERCOMMIT.cores * cpu,
  memoryGb: Math.ceil((OVERCOMMIT.memory * memoryBytes) / GIB),
  disks: 20,
  diskGb: 100,
  members: 100,
  builds: 4,
  deploys: 50,
  uploads: 4,
  jobs: 50,
  shells: 20,
  workspaces: 10,
})

export interface LimitSources {
  own: Limits
  configured: Limits
  /** Administrators of the first workspace are the operator: the usual limits are not for them. */
  isOperators: boolean
  machine: Machine
}

export function limitsOf({ own, configured, isOperators, machine }: LimitSources): Limits {
  return { ...(isOperators ? {} : usualLimits(machine)), ...configured, ...own }
}

/** The first quota that a change would take more of than is allowed; whoever is above a limit already may still give back. */
export const exceededQuota = (limits: Limits, before: Record<QuotaName, number>, after: Record<QuotaName, number>): QuotaName | undefined =>
  allQuotas.find((name) => after[name] > before[name] && after[name] > (limits[name] ?? Number.POSITIVE_INFINITY))
