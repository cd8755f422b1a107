import type { NewVolume, Volumes } from '../../server/engines/port/volumes.ts'

/** A place where volumes stand, which outlives each of its openings. */
export interface VolumesWorld {
  /** Volumes of this world; the second time it stands for a restarted control plane. */
  open(): Promise<Volumes>
  newVolume(changes?: Partial<NewVolume>): NewVolume
  /** Writes a file as a workload does that has ended since. */
  write(id: string, name: string, text: string): Promise<void>
  /** What is in a file of a volume; undefined where there is none, or an empty one. */
  read(id: string, name: string): Promise<string | undefined>
  /** Has the machine hold a volume as if a workload had it, and returns what lets it go; undefined where only the caller knows of that. */
  hold(id: string): Promise<(() => Promise<void>) | undefined>
  dispose(): Promise<void>
}
