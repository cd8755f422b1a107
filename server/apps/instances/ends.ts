import { afterChange } from '../../platform/db/change.ts'
import type { WorkloadEnd } from '../../runtime/workloads/owner.ts'
import type { AppContext } from '../context.ts'
import { recordEvent } from '../events/store.ts'
import { serviceById } from '../services/store.ts'
import { instanceById, type StoredInstance, updateInstance } from '../workloads/instance-store.ts'
import { appOutputOf } from '../workloads/output.ts'
import { describeExit } from './plan.ts'

const MONITOR_KILLED = 'Its monitor, the process that watches it, was killed, and with it the instance'

export function recordEnd(context: AppContext, id: string, end: WorkloadEnd): void {
  const instance = instanceById(context.db, id)
  if (instance === undefined || (end.kind !== 'failed' && end.kind !== 'interrupted')) return
  if (end.kind === 'failed') recordFailure(context, instance, end)
  else if (end.why === 'monitor_killed' && instance.phase === 'serving') recordKilledMonitor(context, instance)
  updateInstance(context.db, id, { isServing: false })
}

function recordFailure(context: AppContext, instance: StoredInstance, { exit, delayMs }: Extract<WorkloadEnd, { kind: 'failed' }>): void {
  const reason = describeExit({ exits: [exit] })
  recordFailedServer(context, instance, { reason, exitCode: exit.exitCode, signal: exit.signal })
  reportEnd(context, instance, `==> ${reason}. Next start in ${(delayMs / 1000).toFixed(1)} s.`)
}

function recordKilledMonitor(context: AppContext, instance: StoredInstance): void {
  recordFailedServer(context, instance, { reason: MONITOR_KILLED, exitCode: null, signal: null })
  reportEnd(context, instance, `==> ${MONITOR_KILLED}. It is started again.`)
}

interface Failure {
  reason: string
  exitCode: number | null
  signal: string | null
}

function recordFailedServer({ db, now }: AppContext, { id, serviceId, deployId }: StoredInstance, failure: Failure): void {
  const service = serviceById(db, serviceId)
  const details = { instanceId: id, deployId, ...failure }
  if (service !== undefined) recordEvent(db, { owner: service, type: 'server_failed', details, now: now() })
}

function reportEnd({ db, outputLogs }: AppContext, instance: StoredInstance, text: string): void {
  afterChange(db, () => outputLogs.remark(appOutputOf(instance), text))
}
