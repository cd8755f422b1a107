import type { ParamsOf, Protection } from '../../../shared/operation.ts'
import type { OperationId, Operations } from '../../../shared/operations/all.ts'
import type { Expected } from './expected.ts'

/** What can be in an environment itself, or belongs to what can. */
type InEnvironment = 'serviceId' | 'diskId' | 'eventId' | 'environmentId' | 'envGroupId' | 'postgresId' | 'keyValueId'

type Named<K extends OperationId> = Extract<keyof ParamsOf<Operations[K]>, InEnvironment>
type OfPlaced = { [K in OperationId]: [Named<K>] extends [never] ? never : K }[OperationId]

/** What the contract says something of, whatever the path names. */
type Declared = { [K in OperationId]: Operations[K] extends { inProtected: Protection } ? K : never }[OperationId]

/** A request in place of the usual one. */
export interface Guarded extends Pick<Expected, 'query' | 'json' | 'uses'> {
  /** The usual request is refused as well. */
  isUsualToo?: true
  /** A protected environment anywhere in the workspace counts. */
  isOfWorkspace?: true
  /** The request is refused outside of protected environments as well, as it would make one. */
  isEverywhere?: true
}

/**
 * What who lacks `environments.manage_protected` is answered in a protected environment: as anywhere else, a refusal, an answer without
 * values, or a refusal of this request.
 */
export type InProtected = 'allowed' | 'refused' | 'hidden' | { depends: Guarded }

const guarded = { protectedStatus: 'protected' }

/**
 * Every operation whose path names something that can be in an environment: without a word here this does not compile. The word stands
 * here a second time on purpose: who changes it in the contract must mean it.
 */
export const inProtected: Record<OfPlaced | Declared, InProtected> = {
  getService: 'allowed',
  // One instance is the least there is.
  updateService: { depends: { uses: ['twoInstances'], json: () => ({ serviceDetails: { numInstances: 1 } }) } },
  deleteService: 'refused',
  suspendService: 'refused',
  resumeService: 'allowed',
  restartService: 'allowed',
  scaleService: { depends: { uses: ['twoInstances'], json: () => ({ numInstances: 1 }) } },
  listInstances: 'allowed',
  listEvents: 'allowed',
  listPostgresEvents: 'allowed',
  getPostgres: 'allowed',
  updatePostgres: { depends: { uses: [], json: () => ({ ipAllowList: [] }) } },
  deletePostgres: 'refused',
  suspendPostgres: 'refused',
  resumePostgres: 'allowed',
  failoverPostgres: 'allowed',
  rollBackPostgres: 'refused',
  confirmUpgradedPostgres: 'refused',
  restartPostgres: 'allowed',
  listPostgresBackups: 'allowed',
  createPostgresBackup: 'allowed',
  getPostgresRecovery: 'allowed',
  startPostgresRecovery: 'refused',
  listPostgresExports: 'refused',
  createPostgresExport: 'refused',
  deletePostgresExport: 'refused',
  downloadPostgresExport: 'refused',
  listPostgresImports: 'refused',
  startPostgresImport: 'refused',
  uploadPostgresDump: 'refused',
  getPostgresImport: 'refused',
  cancelPostgresImport: 'refused',
  getPostgresConnectionInfo: 'refused',
  listPostgresCredentials: 'allowed',
  createPostgresCredential: 'refused',
  deletePostgresCredential: 'refused',
  listPostgresQueries: 'refused',
  getPostgresConnections: 'refused',
  listPostgresLocks: 'refused',
  listPostgresBloat: 'allowed',
  openPostgresTunnel: 'refused',
  cancelPostgresQuery: 'refused',
  getKeyValue: 'allowed',
  updateKeyValue: { depends: { uses: [], json: () => ({ persistenceMode: 'off' }) } },
  deleteKeyValue: 'refused',
  suspendKeyValue: 'refused',
  resumeKeyValue: 'allowed',
  getKeyValueStats: 'allowed',
  restartKeyValue: 'allowed',
  getKeyValueConnectionInfo: 'refused',
  getRedis: 'allowed',
  updateRedis: { depends: { uses: [], json: () => ({ persistenceMode: 'off' }) } },
  deleteRedis: 'refused',
  suspendRedis: 'refused',
  resumeRedis: 'allowed',
  getRedisConnectionInfo: 'refused',
  restartRedis: 'allowed',
  getRedisStats: 'allowed',
  listRedisCredentials: 'allowed',
  rotateRedisCredentials: 'refused',
  listRedisBackups: 'allowed',
  createRedisBackup: 'allowed',
  startRedisRecovery: 'refused',
  listKeyValueCredentials: 'allowed',
  rotateKeyValueCredentials: 'refused',
  listKeyValueBackups: 'allowed',
  createKeyValueBackup: 'allowed',
  startKeyValueRecovery: 'refused',
  listKeyValueEvents: 'allowed',
  getEvent: 'allowed',
  listPlatformEnv: 'allowed',
  listPreviews: 'allowed',
  createPreview: 'allowed',
  // The preview of a fork is given nothing that is in the environment.
  approvePreview: 'allowed',
  deletePreview: 'refused',
  listPreviewValues: 'hidden',
  setPreviewValue: 'hidden',
  deletePreviewValue: 'allowed',
  listEnvVars: 'hidden',
  replaceEnvVars: 'hidden',
  getEnvVar: 'hidden',
  setEnvVar: 'hidden',
  deleteEnvVar: 'allowed',
  listSecretFiles: 'hidden',
  replaceSecretFiles: 'hidden',
  getEnvGroup: 'hidden',
  updateEnvGroup: 'hidden',
  deleteEnvGroup: 'refused',
  replaceGroupEnvVars: 'hidden',
  setGroupEnvVar: 'hidden',
  deleteGroupEnvVar: 'allowed',
  setGroupSecretFile: 'hidden',
  deleteGroupSecretFile: 'allowed',
  linkEnvGroup: 'hidden',
  unlinkEnvGroup: 'refused',
  listHeaders: 'allowed',
  replaceHeaders: 'allowed',
  listRoutes: 'allowed',
  replaceRoutes: 'allowed',
  getNotificationOverrides: 'allowed',
  updateNotificationOverrides: 'allowed',
  uploadSource: 'allowed',
  // Who may deploy may push, and whose source it is stays theirs.
  gitInfoRefs: { depends: { isUsualToo: true } },
  gitUploadPack: 'refused',
  gitReceivePack: 'allowed',
  getDeployHook: 'allowed',
  rotateDeployHook: 'allowed',
  getDeployKey: 'allowed',
  rotateDeployKey: 'allowed',
  forgetHostKeys: 'allowed',
  listDeploys: 'allowed',
  // The source of another service shows what that runs.
  createDeploy: { depends: { uses: ['sourceId', 'foreignSourceId'], json: ({ foreignSourceId }) => ({ sourceId: foreignSourceId }) } },
  getDeploy: 'allowed',
  cancelDeploy: 'allowed',
  rollback: 'refused',
  createJob: 'refused',
  listJobs: 'allowed',
  getJob: 'allowed',
  cancelJob: 'refused',
  runCronJob: 'refused',
  listCronJobRuns: 'allowed',
  cancelCronJobRuns: 'refused',
  getDisk: 'allowed',
  // A disk that is kept after its service was deleted shows what is on it wherever it goes.
  updateDisk: { depends: { uses: ['otherForKept'], json: ({ otherForKept }) => ({ serviceId: otherForKept }) } },
  deleteDisk: 'refused',
  listDiskSnapshots: 'allowed',
  createDiskSnapshot: 'allowed',
  restoreDiskSnapshot: 'refused',
  deleteDiskSnapshot: 'refused',
  listCustomDomains: 'allowed',
  createCustomDomain: 'allowed',
  getCustomDomain: 'allowed',
  verifyCustomDomain: 'allowed',
  deleteCustomDomain: 'refused',
  setDomainCertificate: 'allowed',
  removeDomainCertificate: 'refused',
  createProject: {
    depends: { isEverywhere: true, json: () => ({ name: crypto.randomUUID(), environments: [{ name: 'production', ...guarded }] }) },
  },
  deleteProject: { depends: { uses: ['environmentId'] } },
  createEnvironment: {
    depends: { isEverywhere: true, uses: ['projectId'], json: ({ projectId }) => ({ projectId, name: 'production', ...guarded }) },
  },
  getEnvironment: 'allowed',
  updateEnvironment: { depends: { isUsualToo: true, isEverywhere: true, json: () => guarded } },
  deleteEnvironment: 'refused',
  addEnvironmentResources: { depends: { uses: ['foreignId'], json: ({ foreignId }) => ({ resourceIds: [foreignId] }) } },
  removeEnvironmentResources: 'refused',
  deleteWorkspace: { depends: { isUsualToo: true, isEverywhere: true, isOfWorkspace: true } },
  openShell: 'refused',
  openJobTerminal: 'refused',
  getServiceCpu: 'allowed',
  getServiceMemory: 'allowed',
  getMetricsHistory: 'allowed',
}
