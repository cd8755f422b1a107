import type { Paths } from '../../../platform/paths.ts'
import type { DiskQuota } from '../quota/quota.ts'
import type { ProcessVolumes } from '../volumes/volumes.ts'

export interface Places {
  paths: Paths
  artifact(ownerId: string, digest: string): string
  /** Where programs of this name stand, which are there: whoever has them run has made sure. */
  programs(name: string): string
  material(name: string): string
  volumes: ProcessVolumes
  quota: DiskQuota
}
