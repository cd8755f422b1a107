import type { EventType } from '../../../shared/event.ts'
import type { StoredEvent } from '../events/rows.ts'
import { datastoreReaders } from './datastore-signs.ts'
import { type Reader, reasonIn, SERVER_CALM_MS, type Sign, text } from './sign.ts'

const named = (topic: string, details: Record<string, unknown>, field: string): string => `${topic}:${text(details[field]) ?? ''}`

/** A failure of a thing by its id or name, and the event with which it is over. */
const pair =
  (kind: Sign['kind'], topic: string, { field, title }: { field: string; title: string }): Reader =>
  (details) => ({
    kind,
    topic: named(topic, details, field),
    title: `${title} ${text(details.name) ?? text(details.domain) ?? ''}`.trim(),
    ...reasonIn(details),
  })

const disk = (kind: Sign['kind'], topic: string, title: string) => pair(kind, `disk_${topic}`, { field: 'diskId', title })
const certificate = (kind: Sign['kind'], title: string) => pair(kind, 'certificate', { field: 'domain', title })

const deployEnded: Reader = (details) => {
  const deployId = text(details.deployId) ?? ''
  if (details.status === 'live') return { kind: 'good', topic: 'deploy', title: 'Deploy is live', isNews: true }
  if (!/_failed$/.test(String(details.status))) return undefined
  return { kind: 'bad', topic: 'deploy', title: 'Deploy failed', about: deployId, deployId, logInstance: deployId, ...reasonIn(details) }
}

const takenBack: Reader = (details) => {
  const deployId = text(details.deployId) ?? ''
  return { kind: 'bad', topic: 'deploy', title: 'New release was taken back', about: deployId, deployId, ...reasonIn(details) }
}

const serverFailed: Reader = (details) => ({
  ...{ kind: 'bad', topic: 'server', title: 'Instance failed' },
  ...reasonIn(details),
  ...(text(details.instanceId) && { logInstance: String(details.instanceId) }),
  ...(text(details.deployId) && { deployId: String(details.deployId) }),
})

const serves: Reader = () => ({ kind: 'good', topic: 'server', title: 'Instances serve again', calmMs: SERVER_CALM_MS })

const cronRunEnded: Reader = (details) => {
  const runId = text(details.cronJobRunId) ?? ''
  if (details.status === 'successful') return { kind: 'good', topic: 'cron', title: 'Cron job runs again' }
  if (details.status !== 'unsuccessful') return undefined
  return { kind: 'bad', topic: 'cron', title: 'Run of the cron job failed', logInstance: runId, ...reasonIn(details) }
}

const webhookDisabled: Reader = (details) => ({
  ...{ kind: 'bad', topic: 'webhook', title: `Webhook ${text(details.name) ?? ''} was disabled`, isEndless: true },
  ...reasonIn(details),
})

/** A repository is the service's one, whatever it is called meanwhile. */
const repository =
  (kind: Sign['kind'], title: string): Reader =>
  (details) => ({ kind, topic: 'repository', title, ...reasonIn(details) })

const readers: Partial<Record<EventType, Reader>> = {
  deploy_ended: deployEnded,
  cutover_reverted: takenBack,
  server_failed: serverFailed,
  server_available: serves,
  server_restarted: serves,
  cron_job_run_ended: cronRunEnded,
  webhook_disabled: webhookDisabled,
  repository_unreachable: repository('bad', 'Repository cannot be had'),
  repository_reachable: repository('good', 'Repository is there again'),
  certificate_failed: certificate('bad', 'No certificate for'),
  certificate_expiring: certificate('bad', 'Certificate ends soon of'),
  certificate_issued: certificate('good', 'Certificate is there for'),
  certificate_renewed: certificate('good', 'Certificate is renewed for'),
  certificate_uploaded: certificate('good', 'Certificate is there for'),
  disk_create_failed: disk('bad', 'created', 'Could not make the disk'),
  disk_created: disk('good', 'created', 'There is the disk'),
  disk_resize_failed: disk('bad', 'resized', 'Could not grow the disk'),
  disk_resized: disk('good', 'resized', 'Grown is the disk'),
  disk_restore_failed: disk('bad', 'restored', 'Could not restore the disk'),
  disk_restored: disk('good', 'restored', 'Restored is the disk'),
  disk_snapshot_failed: disk('bad', 'snapshot', 'No snapshot of the disk'),
  disk_snapshot_created: disk('good', 'snapshot', 'There are snapshots again of the disk'),
  ...datastoreReaders,
}

/** What an event says about whether things work; undefined for one that says nothing of it. */
export const signOf = (event: StoredEvent): Sign | undefined => readers[event.type]?.(event.details, event)
