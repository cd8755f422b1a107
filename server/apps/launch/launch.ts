import { existsSync } from 'node:fs'
import { chmod, chown, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type PlanName, plans } from '../../../shared/plan.ts'
import { commandIn, searchPathOf } from '../../builders/plan.ts'
import type { InstanceSpec, Limits, Sandbox } from '../../engines/port/port.ts'
import { removeTree } from '../../platform/files/tree/remove.ts'
import { type ServicePaths, servicePathsOf } from '../../platform/paths.ts'
import type { AppContext } from '../context.ts'
import { artifactDir, releaseSecrets, type StoredRelease } from '../deploys/release-store.ts'
import { diskForInstance } from '../disks/workload.ts'
import { ensureFolder, ensureServiceFolders, isRoot } from '../services/folders.ts'
import type { StoredService } from '../services/store.ts'
import { userNamespacesOf } from '../services/user-namespaces.ts'
import type { StoredInstance } from '../workloads/instance-store.ts'
import { givenPortOf } from './given-port.ts'
import { type InstanceFacts, platformEnv } from './platform-env.ts'

const MIB = 1024 * 1024

/** Where an instance's output goes. */
export const outputPathOf = (own: ServicePaths, instanceId: string): string => join(own.output, `${instanceId}.log`)

/** Everything the engine needs to start an instance, with the files it needs laid down. */
export async function prepareInstance(
  context: AppContext,
  { service, release, instance }: { service: StoredService; release: StoredRelease; instance: StoredInstance },
): Promise<InstanceSpec> {
  const { id, deployId } = instance
  const port = givenPortOf(context, instance)
  return await prepareWorkload(context, { service, release, workload: { id, deployId, port } })
}

/** What is started in a release: an instance with the command and plan of the release, or a job with its own. */
export interface ReleaseWorkload {
  id: string
  deployId: string
  /** 0 for what listens nowhere. */
  port: number
  command?: string
  plan?: PlanName
}

/** The same for anything that runs in a release as its service. */
export async function prepareWorkload(
  context: AppContext,
  { service, release, workload }: { service: StoredService; release: StoredRelease; workload: ReleaseWorkload },
): Promise<InstanceSpec> {
  const { id, deployId, port, command = release.launch.startCommand, plan = release.settings.plan } = workload
  const own = await ensureServiceFolders(context.paths, service)
  await context.diskQuota.limit(service)
  const secretsDir = await prepareSecrets(context, { service, release })
  const disk = await diskForInstance(context, service.id)
  const facts = { port, instanceId: id, deployId, secretsDir }
  return {
    instanceId: id,
    deployId,
    command: commandIn(release.launch.appDir, command),
    cwd: artifactDir(context.paths, release),
    env: { ...instanceEnv(context, { service, release, facts }), ...disk.env },
    sandbox: {
      ...sandboxOf(context, service, [...release.launch.readOnlyBinds, artifactDir(context.paths, release), secretsDir]),
      layerOver: artifactDir(context.paths, release),
      ...disk.sandbox,
    },
    limits: limitsOf(plan),
    outputPath: outputPathOf(own, id),
    port,
  }
}

/** In a network of its own an app is not asked from loopback, from where alone gunicorn and uvicorn take X-Forwarded headers unless told. */
const BEHIND_INGRESS = { FORWARDED_ALLOW_IPS: '*' }

/** The environment of an instance: the toolchain's, then the user's, then what the platform says, which wins. */
export function instanceEnv(
  context: AppContext,
  { service, release, facts }: { service: StoredService; release: StoredRelease; facts: InstanceFacts },
): Record<string, string> {
  const { envVars } = releaseSecrets(context, release.id)
  return {
    ...baseEnv(servicePathsOf(context.paths, service.id), searchPathOf(release.launch, artifactDir(context.paths, release))),
    ...(context.engine.hasOwnNetworks ? BEHIND_INGRESS : {}),
    ...release.launch.env,
    ...Object.fromEntries(envVars.map(({ key, value }) => [key, value])),
    ...platformEnv(context, service, facts),
  }
}

/** What every process of a service is given, builds included. */
export const baseEnv = (own: ServicePaths, searchPath: string): Record<string, string> => ({
  PATH: searchPath,
  HOME: own.home,
  TMPDIR: '/tmp',
  LANG: 'C.UTF-8',
})

/** What a plan gives an instance. */
export const limitsOf = (plan: PlanName): Limits => {
  const { cpu, memoryMb, pids } = plans[plan]
  return { cpu, memoryBytes: memoryMb * MIB, pids }
}

/** Who processes of a service run as, and what they see of our folders. */
export function sandboxOf(
  context: Pick<AppContext, 'paths' | 'config'>,
  service: Pick<StoredService, 'id' | 'uid' | 'workspaceId' | 'settings'>,
  readOnlyBinds: string[],
): Sandbox {
  const { paths } = context
  const own = servicePathsOf(paths, service.id)
  return {
    serviceId: service.id,
    networkId: service.workspaceId,
    uid: service.uid,
    gid: service.uid,
    homeDir: own.home,
    tmpDir: own.tmp,
    readOnlyBinds: [...readOnlyBinds, paths.toolchain],
    writableBinds: [own.home],
    coveredDirs: [own.builds, own.releases, own.secrets],
    ...userNamespacesOf(context.config, service),
  }
}

const secretsDirOf = (context: Pick<AppContext, 'paths'>, release: Pick<StoredRelease, 'id' | 'serviceId'>): string =>
  join(servicePathsOf(context.paths, release.serviceId).secrets, release.id)

const USERS_ALONE = 0o500
const USER_READS = 0o400
const OWNER_WRITES = 0o200

/** By folder: an instance and jobs may start in one release at the same moment. */
const secretsUnderWay = new Map<string, Promise<string>>()

/** Lays the secret files of a release down where its processes read them. Returns the folder. */
export async function prepareSecrets(
  context: AppContext,
  { service, release }: { service: StoredService; release: StoredRelease },
): Promise<string> {
  const dir = secretsDirOf(context, release)
  if (existsSync(dir)) return dir
  const begun = secretsUnderWay.get(dir) ?? laySecrets(context, { service, release, dir }).finally(() => secretsUnderWay.delete(dir))
  secretsUnderWay.set(dir, begun)
  return await begun
}

async function laySecrets(
  context: AppContext,
  { service, release, dir }: { service: StoredService; release: StoredRelease; dir: string },
): Promise<string> {
  const fresh = `${dir}.new`
  await removeTree(fresh)
  await ensureFolder(fresh, 0o700, { uid: 0, gid: 0 })
  for (const { name, content } of releaseSecrets(context, release.id).secretFiles) {
    await writeFile(join(fresh, name), content, { mode: USER_READS })
    if (isRoot) await chown(join(fresh, name), service.uid, service.uid)
  }
  if (isRoot) await chown(fresh, service.uid, service.uid)
  // Without another user to own it we must keep what removes it later: write permission on the folder.
  await chmod(fresh, isRoot ? USERS_ALONE : USERS_ALONE | OWNER_WRITES)
  await rename(fresh, dir)
  return dir
}
