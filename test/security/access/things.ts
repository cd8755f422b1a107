import { insertDeploy } from '../../../server/apps/deploys/store.ts'
import { insertSnapshot } from '../../../server/apps/disks/snapshot-store.ts'
import { recordEvent } from '../../../server/apps/events/store.ts'
import { insertSource } from '../../../server/apps/sources/store.ts'
import { insertJob } from '../../../server/apps/workloads/job-store.ts'
import { replaceCertificate } from '../../../server/edge/certificates/store/certificates.ts'
import { newId } from '../../../server/platform/id.ts'
import type { PathIds } from '../../conformance/requests.ts'
import { addPerson, addRole, beginSession } from '../../support/access.ts'
import { addBackups } from '../../support/backups.ts'
import { call } from '../../support/client.ts'
import { addDatastore } from '../../support/datastores.ts'
import { putInto } from '../../support/environments.ts'
import { addRequest } from '../../support/previews.ts'
import type { TestServer } from '../../support/server.ts'
import { addInstallation } from '../../support/source-hosts.ts'
import { addTransfer } from '../../support/transfers.ts'

/** Somebody's workspace, with a key that may do everything in it. */
export interface Place {
  server: TestServer
  workspaceId: string
  token: string
  /** Where services are put. */
  environmentId?: string | null
  /** Whether environments that are made are protected. */
  isProtected?: true
  /** Who asks, where things are a person's own. */
  userId?: string
}

/** Makes one thing of each kind that a path, query or body can name, for one request alone; all of them are the place's own. */
export interface Things {
  /** Things are made in the order in which one needs the other. */
  of(names: readonly string[]): Promise<PathIds>
}

type Made = Record<string, string>
type Maker = (place: Place, made: Made) => string | Promise<string>

let count = 0
const nextName = (): string => `thing-${++count}`

async function create(place: Place, path: string, json: unknown, method = 'POST'): Promise<Record<string, unknown>> {
  const { status, body } = await call(place.server.url + path, {
    method,
    json,
    token: place.token,
    headers: { 'x-workspace-id': place.workspaceId },
  })
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`)
  return body
}

const makeService = async (place: Place, made: Made, changes: Record<string, unknown> = {}): Promise<string> => {
  const { service } = await create(place, '/v1/services', { type: 'web_service', name: nextName(), ...changes })
  const { id } = service as { id: string }
  putInto(place.server, id, made.environmentId ?? place.environmentId ?? null)
  return id
}

function makeSource({ server: { db } }: Place, serviceId: string): string {
  const id = newId('source')
  insertSource(db, { id, serviceId, sha256: '0'.repeat(64), format: 'tar.gz', sizeBytes: 1, fileCount: 1, createdAt: Date.now() })
  return id
}

/** How each is made, by the name of the parameter that holds its id. Services come first: most others are of one. */
const makers: Record<string, Maker> = {
  ownerId: ({ workspaceId }) => workspaceId,
  workspaceId: ({ workspaceId }) => workspaceId,
  cronJobId: (place, made) => makeService(place, made, { type: 'cron_job', serviceDetails: { schedule: '@yearly', runtime: 'node' } }),
  serviceId: (place, made) => makeService(place, made),
  deployId({ server: { db } }, { serviceId = '' }) {
    const id = newId('deploy')
    insertDeploy(db, {
      id,
      serviceId,
      trigger: 'api',
      sourceId: null,
      releaseId: null,
      rollbackOf: null,
      isCacheCleared: false,
      createdAt: Date.now(),
    })
    return id
  },
  sourceId: (place, { serviceId = '' }) => makeSource(place, serviceId),
  /** A source of another service, the same as the one named. */
  foreignSourceId: async (place) => makeSource(place, await makeService(place, {})),
  jobId({ server: { db } }, { serviceId = '' }) {
    const id = newId('job')
    insertJob(db, {
      id,
      serviceId,
      kind: 'one_off',
      startCommand: 'true',
      plan: null,
      dueAt: null,
      triggeredBy: 'test',
      createdAt: Date.now(),
    })
    return id
  },
  eventId({ server: { db }, workspaceId }, { serviceId = '' }) {
    recordEvent(db, { owner: { id: serviceId, workspaceId }, type: 'server_restarted', now: Date.now() })
    return db.query<{ id: string }, [string]>('SELECT id FROM events WHERE service_id = ? ORDER BY id DESC').get(serviceId)?.id ?? ''
  },
  async key(place, { serviceId = '' }) {
    await create(place, `/v1/services/${serviceId}/env-vars/SOME_KEY`, { value: 'x' }, 'PUT')
    await create(place, `/v1/services/${serviceId}/preview-values/SOME_KEY`, { value: 'x' }, 'PUT')
    return 'SOME_KEY'
  },
  async envGroupId(place) {
    const { environmentId } = place
    const envVars = [{ key: 'SOME_KEY', value: 'x' }]
    const secretFiles = [{ name: 'a.pem', content: 'x' }]
    return String((await create(place, '/v1/env-groups', { name: nextName(), environmentId, envVars, secretFiles })).id)
  },
  fileName: () => 'a.pem',
  async link(place, { envGroupId, serviceId = '' }) {
    await create(place, `/v1/env-groups/${envGroupId}/services/${serviceId}`, undefined)
    return serviceId
  },
  async projectId(place) {
    return String((await create(place, '/v1/projects', { name: nextName() })).id)
  },
  async environmentId(place, { projectId }) {
    const protectedStatus = place.isProtected ? 'protected' : 'unprotected'
    return String((await create(place, '/v1/environments', { name: nextName(), projectId, protectedStatus })).id)
  },
  /** A service of another environment than the one named. */
  foreignId: (place) => makeService(place, {}),
  backupId: ({ server, workspaceId }, { postgresId = '' }) => addBackups(server, { id: postgresId, workspaceId }),
  postgresId: ({ server, workspaceId, environmentId }, made) =>
    addDatastore(server, { workspaceId, environmentId: made.environmentId ?? environmentId ?? null }),
  exportId: ({ server, workspaceId }, { postgresId = '' }) => addTransfer(server, { datastoreId: postgresId, workspaceId, kind: 'export' }),
  importId: ({ server, workspaceId }, { postgresId = '' }) => addTransfer(server, { datastoreId: postgresId, workspaceId, kind: 'import' }),
  username: () => 'app_user',
  pid: () => '1',
  request: ({ server }, { serviceId = '' }) => addRequest(server, serviceId),
  keyValueId: ({ server, workspaceId, environmentId }, made) =>
    addDatastore(server, { workspaceId, kind: 'key_value', environmentId: made.environmentId ?? environmentId ?? null }),
  async domainId(place, { serviceId = '' }) {
    const body = await create(place, `/v1/services/${serviceId}/custom-domains`, { name: `${nextName()}.example.com` })
    return (body as unknown as [{ id: string }])[0].id
  },
  async diskId(place, { serviceId }) {
    const { id } = await create(place, '/v1/disks', { serviceId, name: 'data', mountPath: '/var/data', sizeGB: 1 })
    place.server.db.query("UPDATE disks SET status = 'available' WHERE id = ?").run(String(id))
    return String(id)
  },
  snapshotKey({ server: { db } }, { diskId = '' }) {
    const key = `snp-${crypto.randomUUID()}`
    insertSnapshot(db, { key, diskId, status: 'available', origin: 'manual', createdAt: Date.now() })
    return key
  },
  certificate({ server: { db } }, { domainId = '' }) {
    const host = db.query<{ name: string }, [string]>('SELECT name FROM custom_domains WHERE id = ?').get(domainId)?.name ?? ''
    const validity = { notBefore: 0, notAfter: Date.now() + 1e9 }
    replaceCertificate(db, {
      id: newId('certificate'),
      host,
      source: 'uploaded',
      directory: '',
      domainId,
      chain: '',
      keySealed: '',
      issuer: 'test',
      createdAt: Date.now(),
      ...validity,
    })
    return host
  },
  twoInstances({ server: { db } }, { serviceId = '' }) {
    db.query('UPDATE services SET num_instances = 2 WHERE id = ?').run(serviceId)
    return serviceId
  },
  /** A service that a disk can be given to, whose own service was deleted. */
  async otherForKept(place, { serviceId = '', diskId = '' }) {
    const other = await makeService({ ...place, environmentId: null }, {})
    const kept = 'deleted_at = 1, kept_until = 9e12, kept_environment_id = (SELECT environment_id FROM services WHERE id = service_id)'
    place.server.db.query(`UPDATE disks SET ${kept} WHERE id = ?`).run(diskId)
    place.server.db.query('DELETE FROM services WHERE id = ?').run(serviceId)
    return other
  },
  webhookId: async (place) => {
    const { id } = await create(place, '/v1/webhooks', { name: nextName(), url: 'https://hooks.invalid/', enabled: false })
    return String(id)
  },
  installationId: ({ server, workspaceId }) => addInstallation(server, { workspaceId, provider: 'gitea' }),
  emptyRole: (place) => addRole(place, []),
  memberId: (place) => addPerson(place, addRole(place, [])),
  async inviteId(place) {
    const email = `${crypto.randomUUID()}@example.com`
    return String((await create(place, '/v1/team-invites', { email, role: addRole(place, []) })).id)
  },
  roleId(place) {
    const name = addRole(place, [])
    return place.server.db.query<{ id: string }, [string]>('SELECT id FROM roles WHERE name = ?').get(name)?.id ?? ''
  },
  sessionId(place) {
    const userId = place.userId ?? addPerson(place, 'viewer')
    beginSession(place.server, userId)
    return (
      place.server.db.query<{ id: string }, [string]>('SELECT id FROM sessions WHERE user_id = ? ORDER BY rowid DESC').get(userId)?.id ?? ''
    )
  },
  provider: () => 'github',
  // Hooks are called without a credential, so none is anybody's here.
  token: () => 'never-given-out',
  keyId: async (place) => String((await create(place, '/v1/api-keys', { name: nextName(), role: 'viewer' })).id),
}

/** What must be there before a thing of this kind can be. */
const needs: Record<string, string> = {
  deployId: 'serviceId',
  sourceId: 'serviceId',
  jobId: 'serviceId',
  eventId: 'serviceId',
  key: 'serviceId',
  backupId: 'postgresId',
  exportId: 'postgresId',
  importId: 'postgresId',
  username: 'postgresId',
  pid: 'postgresId',
  request: 'serviceId',
  domainId: 'serviceId',
  diskId: 'serviceId',
  environmentId: 'projectId',
  snapshotKey: 'diskId',
  certificate: 'domainId',
}

export const thingsOf = (place: Place): Things => ({
  async of(names) {
    const made: Made = {}
    const make = async (name: string): Promise<void> => {
      if (name in made) return
      const before = needs[name]
      if (before !== undefined) await make(before)
      const maker = makers[name]
      if (maker === undefined) throw new Error(`Nobody knows how to make a ${name}: add it to things.ts`)
      made[name] = await maker(place, made)
    }
    for (const name of names) await make(name)
    return made
  },
})
