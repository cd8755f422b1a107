import type { Postgres, PostgresUpgrade } from '../../../shared/postgres.ts'
import { hasWayBack } from './upgrade-rules.ts'
import type { StoredUpgrade, UpgradeStep } from './upgrade-store.ts'

const statuses: Record<UpgradeStep, PostgresUpgrade['status']> = {
  preparing: 'in_progress',
  checking: 'in_progress',
  keeping: 'in_progress',
  linking: 'in_progress',
  starting: 'in_progress',
  settling: 'succeeded',
  done: 'succeeded',
  failed: 'failed',
  returning: 'rolling_back',
  returned: 'rolled_back',
}

const iso = (ms: number): string => new Date(ms).toISOString()

export function presentUpgrade(upgrade: StoredUpgrade | undefined): Pick<Postgres, 'upgrade'> {
  if (upgrade === undefined) return {}
  const { fromVersion, toVersion, step, startedAt, stoppedAt, finishedAt, reason } = upgrade
  return {
    upgrade: {
      ...{ fromVersion, toVersion, status: statuses[step], step, startedAt: iso(startedAt) },
      ...(finishedAt !== null && { finishedAt: iso(finishedAt) }),
      ...(hasWayBack(upgrade) && { rollbackUntil: iso(upgrade.keptUntil) }),
      ...(hasWayBack(upgrade) && stoppedAt !== null && { rollbackTo: iso(stoppedAt) }),
      ...(reason !== null && { reason }),
    },
  }
}
