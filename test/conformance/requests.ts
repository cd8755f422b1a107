import { exampleOf } from '../../server/api/docs/schema.ts'
import type { OperationId } from '../../shared/operations/all.ts'
import { operationOf } from '../../shared/operations/all.ts'
import type { CallOptions } from '../support/client.ts'

/** Ids that stand in a path when the caller has none of their own. */
export type PathIds = Readonly<Record<string, string>>

const unknownIds: PathIds = {
  serviceId: 'srv-00000000000000000000',
  deployId: 'dep-00000000000000000000',
  jobId: 'job-00000000000000000000',
  eventId: 'evt-00000000000000000000',
  keyId: 'key-00000000000000000000',
  ownerId: 'tea-00000000000000000000',
  memberId: 'usr-00000000000000000000',
  sessionId: 'ses-00000000000000000000',
  inviteId: 'inv-00000000000000000000',
  roleId: 'rol-00000000000000000000',
  key: 'SOME_KEY',
  diskId: 'dsk-00000000000000000000',
  projectId: 'prj-00000000000000000000',
  environmentId: 'evm-00000000000000000000',
  webhookId: 'whk-00000000000000000000',
  installationId: 'shi-00000000000000000000',
  envGroupId: 'evg-00000000000000000000',
  postgresId: 'dpg-00000000000000000000-a',
  exportId: 'exp-00000000000000000000',
  importId: 'imp-00000000000000000000',
  username: 'app_user',
  pid: '1',
  request: '1',
  keyValueId: 'red-00000000000000000000',
  snapshotKey: 'snp-00000000000000000000',
}

const someService = '?resource=srv-00000000000000000000'

/** Query values that an operation cannot do without. */
const neededQuery: Partial<Record<OperationId, string>> = {
  openJobTerminal: '?startCommand=true',
  gitInfoRefs: '?service=git-upload-pack',
  listLogValues: '?label=level',
  queryCpu: someService,
  getDeviceRequest: '?code=BCDF-GHJK',
  removeEnvironmentResources: '?resourceIds=srv-00000000000000000000',
  queryMemory: someService,
  queryHttpRequests: someService,
  queryHttpLatency: someService,
  queryBandwidth: someService,
  queryInstanceCount: someService,
  queryCpuLimit: someService,
  queryMemoryLimit: someService,
  queryDiskUsage: someService,
  queryDiskCapacity: someService,
  queryCpuTarget: someService,
  queryMemoryTarget: someService,
  queryReplicationLag: someService,
  queryActiveConnections: someService,
}

/** A well-formed request of an operation, out of the examples in the table, with the ids given. */
export function requestOf(id: OperationId, ids: PathIds = {}): { path: string; options: CallOptions } {
  const operation = operationOf(id)
  const path = operation.path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? unknownIds[name] ?? 'unknown')
  const options: CallOptions = { method: operation.method }
  if (operation.body !== undefined) options.json = exampleOf(operation.body)
  if (operation.stream !== undefined) {
    options.raw = 'not an archive'
    options.headers = { 'content-type': 'application/gzip' }
  }
  return { path: path + (neededQuery[id] ?? ''), options }
}
