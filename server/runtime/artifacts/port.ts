/** Built files by the digest of their content, each service's for itself: two have one copy each of equal files, as one may be deleted alone. */
import type { Unit } from '../space/reserve.ts'

export interface Artifacts {
  has(serviceId: string, digest: string): boolean

  /** What is kept of each of these services, in bytes or files. A service whose share cannot be told in a few seconds is left out. */
  sizes(serviceIds: readonly string[], unit: Unit, signal: AbortSignal): Promise<Map<string, number>>

  /**
   * Removes what is kept of a service, but for these digests. What goes is out of reach when the promise is returned, so that whoever begins
   * meanwhile finds all of an artifact or nothing, and removed when it resolves. Repeatable after an interruption.
   */
  prune(serviceId: string, kept: ReadonlySet<string>): Promise<void>

  /** Where the files stand, whether they are there or not: for engines and ingresses on this machine, and for nobody else. */
  folder(serviceId: string, digest: string): string
}

export interface ArtifactsOf<Built> extends Artifacts {
  /**
   * Keeps what was built, and returns the digest of its content. Equal content is kept once. The builder has it no more after this.
   *
   * @throws AppError `unavailable` without room, the signal's reason when aborted, and errors of the system.
   */
  keep(serviceId: string, built: Built, signal: AbortSignal): Promise<string>
}
