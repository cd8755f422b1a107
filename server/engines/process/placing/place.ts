import { join } from 'node:path'
import { outputFileIn, type ServicePaths } from '../../../platform/paths.ts'
import { ensureServiceFolders } from '../../../platform/service-folders.ts'
import { searchPathIn } from '../../../platform/stack.ts'
import type { Files, View, VolumeMount, Workload } from '../../port/workload.ts'
import type { ProcessSpec, Sandbox } from '../spec.ts'
import type { Places } from './places.ts'
import type { SecretFolders } from './secret-files.ts'

export interface PlacingContext {
  places: Places
  secrets: SecretFolders
}

export type Placed = Pick<ProcessSpec, 'cwd' | 'env' | 'sandbox' | 'command' | 'limits' | 'priority'> & { own: ServicePaths }

/** Lays down what a workload needs, and says where it stands. One that joins another sees what that one sees, its volume too. */
export async function placeWorkload(
  context: PlacingContext,
  spec: Workload,
  options: { isJoining?: boolean; port?: number } = {},
): Promise<Placed> {
  const { paths } = context.places
  const { owner, files, command, limits, priority } = spec
  const own = await ensureServiceFolders(paths, { id: owner.id, uid: owner.number })
  const secrets = spec.secretFiles && (await laySecretFiles(context, own, spec))
  const root = rootOf(context.places, own, spec)
  const volume = spec.volume && (await placeVolume(context, spec.volume, options))
  const material = spec.material === undefined ? undefined : context.places.material(spec.material)
  const beside = besideOf(context.places, files)
  const cwd = 'build' in files ? join(root, files.dir) : root
  const view: View = {
    root,
    home: own.home,
    secrets: secrets ?? '',
    searchPath: searchPathIn(spec.stack, cwd),
    ...(volume && { volume: volume.path }),
    ...(material !== undefined && { material }),
    ...beside.told,
    ...(options.port !== undefined && { port: options.port }),
  }
  return {
    own,
    command,
    limits,
    ...(priority && { priority }),
    cwd,
    env: spec.env(view),
    sandbox: {
      ownerId: owner.id,
      uid: owner.number,
      gid: owner.number,
      homeDir: own.home,
      tmpDir: own.tmp,
      coveredDirs: [own.builds, own.releases, own.secrets],
      ...foldersOf(own, { files, root }),
      readOnlyBinds: [
        ...spec.stack.folders,
        ...('build' in files ? [] : [root]),
        ...(secrets === undefined ? [] : [secrets]),
        ...(material === undefined ? [] : [material]),
        ...beside.folders,
        paths.toolchain,
      ],
      ...networkOf(spec),
      ...(volume?.mount && { disk: volume.mount }),
      ...(spec.allowsUserNamespaces && { allowsUserNamespaces: true }),
    },
  }
}

function rootOf({ artifact, programs }: Places, own: ServicePaths, { files, owner }: Workload): string {
  if ('build' in files) return join(own.builds, files.build)
  return 'programs' in files ? programs(files.programs) : artifact(owner.id, files.artifact)
}

function besideOf({ programs }: Places, files: Files): { told: Pick<View, 'beside'>; folders: string[] } {
  if (!('programs' in files) || files.beside === undefined) return { told: {}, folders: [] }
  const beside = Object.fromEntries(files.beside.map((name) => [name, programs(name)]))
  return { told: { beside }, folders: Object.values(beside) }
}

const laySecretFiles = ({ secrets }: PlacingContext, own: ServicePaths, { secretFiles, owner }: Workload) =>
  secretFiles && secrets.ensure(join(own.secrets, secretFiles.key), secretFiles.read, owner.number)

function foldersOf(own: ServicePaths, { files, root }: { files: Files; root: string }): Pick<Sandbox, 'writableBinds' | 'layerOver'> {
  if ('build' in files) return { writableBinds: [own.home, root, own.cache] }
  return { writableBinds: [own.home], ...('artifact' in files && { layerOver: root }) }
}

function networkOf({ network }: Workload): Pick<Sandbox, 'networkId' | 'sharesHostNetwork'> {
  if (network === 'none') return {}
  return network === 'host' ? { sharesHostNetwork: true } : { networkId: network.name }
}

interface PlacedVolume {
  path: string
  mount?: NonNullable<Sandbox['disk']>
}

async function placeVolume(
  { places: { volumes } }: PlacingContext,
  volume: VolumeMount,
  { isJoining }: { isJoining?: boolean },
): Promise<PlacedVolume> {
  const path = volumes.pathOf(volume)
  if (isJoining === true) return { path }
  const found = await volumes.open(volume.volumeId)
  return path === volume.mountPath ? { path, mount: { ...found, target: path } } : { path }
}

export const outputPathOf = (own: ServicePaths, { outputName }: { outputName: string }): string => outputFileIn(own, outputName)
