import type { EnvVar, SecretFile } from '../../shared/env.ts'
import type { EnvGroup } from '../../shared/env-group.ts'
import type { Service, ServiceCreate } from '../../shared/service.ts'
import { hasDetail, type ServiceDetailsInput } from '../../shared/service-details.ts'
import { present } from '../base/present.ts'
import { copyOfVariable } from './datastores.ts'

export interface Original {
  service: Service
  envVars: readonly EnvVar[]
  secretFiles: readonly SecretFile[]
  domains: readonly string[]
  groups: readonly EnvGroup[]
}

/** Where a copy is made, and with what: the names of variables that stay empty, and ids of copied datastores by those of the originals. */
export interface CopyAt {
  name: string
  environmentId: string
  missing: readonly string[]
  ids: ReadonlyMap<string, string>
}

export function inputOfCopy({ service, envVars, secretFiles }: Original, { name, environmentId, missing, ids }: CopyAt): ServiceCreate {
  const { type, rootDir, repo, branch, buildFilter, submodules, autoDeploy, autoDeployTrigger } = service
  return {
    ...{ type, name, environmentId },
    ...present({ rootDir: rootDir === '' ? undefined : rootDir, repo, branch, buildFilter, submodules, autoDeploy, autoDeployTrigger }),
    envVars: envVars.map((variable) => copyOfVariable(variable, { missing, ids })),
    secretFiles: secretFiles.map(({ name: file, content }) => ({ name: file, content })),
    serviceDetails: detailsOfCopy(service),
  }
}

/** Maintenance is a state of the original. A runtime that reads `node` may be one that nobody chose, which the build finds out again. */
function detailsOfCopy({ type, serviceDetails }: Service): ServiceDetailsInput {
  const { env: _, maintenanceMode: __, parentServer: ___, runtime, disk, ...details } = serviceDetails
  const kept = Object.entries(details).filter(([key]) => hasDetail(type, key))
  return {
    ...Object.fromEntries(kept),
    ...(runtime === undefined || runtime === 'node' ? {} : { runtime }),
    ...(disk && { disk: { name: disk.name, mountPath: disk.mountPath, sizeGB: disk.sizeGB } }),
  }
}
