import type { EnvVar, SecretFile } from '../../shared/env.ts'
import type { EnvGroup } from '../../shared/env-group.ts'
import type { Service, ServiceCreate } from '../../shared/service.ts'
import { hasDetail, type ServiceDetailsInput } from '../../shared/service-details.ts'
import { present } from '../base/present.ts'

export interface Original {
  service: Service
  envVars: readonly EnvVar[]
  secretFiles: readonly SecretFile[]
  domains: readonly string[]
  groups: readonly EnvGroup[]
}

export function inputOfCopy({ service, envVars, secretFiles }: Original, name: string, environmentId: string): ServiceCreate {
  const { type, rootDir, repo, branch, buildFilter, autoDeploy, autoDeployTrigger } = service
  return {
    ...{ type, name, environmentId },
    ...present({ rootDir: rootDir === '' ? undefined : rootDir, repo, branch, buildFilter, autoDeploy, autoDeployTrigger }),
    envVars: envVars.map(({ hidden: _, ...variable }) => variable),
    secretFiles: secretFiles.map(({ name: file, content }) => ({ name: file, content })),
    serviceDetails: detailsOfCopy(service),
  }
}

/** Maintenance is a state of the original. A runtime that reads `node` may be one that nobody chose, which the build finds out again. */
function detailsOfCopy({ type, serviceDetails }: Service): ServiceDetailsInput {
  const { env: _, maintenanceMode: __, runtime, disk, ...details } = serviceDetails
  const kept = Object.entries(details).filter(([key]) => hasDetail(type, key))
  return {
    ...Object.fromEntries(kept),
    ...(runtime === undefined || runtime === 'node' ? {} : { runtime }),
    ...(disk && { disk: { name: disk.name, mountPath: disk.mountPath, sizeGB: disk.sizeGB } }),
  }
}
