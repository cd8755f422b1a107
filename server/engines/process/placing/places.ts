import type { Paths } from '../../../platform/paths.ts'

export interface Places {
  paths: Paths
  /** The folder of built files. */
  artifact(serviceId: string, digest: string): string
  /** The folder or image that is a volume. @throws AppError `not_found` when there is none of that id. */
  volume(volumeId: string): { source: string; isImage: boolean }
}
