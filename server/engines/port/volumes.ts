import type { SizeUnit } from '../../platform/process/folder-size.ts'
import type { Owner, VolumeMount } from './workload.ts'

/** What a volume is, as it is written down with each: a file system of its own, or a folder of a larger one. */
export type VolumeKindName = 'image' | 'folder'

export interface VolumeKind {
  name: VolumeKindName
  /** A volume of this kind has its size and no more. One of another can fill what it shares with others. */
  isBounded: boolean
}

export interface VolumeCapabilities {
  /** Kinds that workloads can be given; the first is that of new volumes. */
  kinds: readonly [VolumeKind, ...VolumeKind[]]
  /** Whether a volume can become larger while something uses it, while nothing does, or not at all. */
  grow: 'online' | 'offline' | 'never'
  snapshots: boolean
}

export interface NewVolume {
  id: string
  owner: Owner
  sizeGb: number
  kind: VolumeKindName
}

/**
 * The port of volumes: files that outlive what runs. They are told by id and never by place, so that they may stand anywhere. Each
 * technology is one adapter of this type, and all of them pass the suite in test/engines/volumes-contract.ts.
 *
 * A call can be made again, also after a control plane that was killed in the middle of it, and comes to the same end. The caller has
 * written down what is to be done, makes one call at a time for a volume, and changes only what nothing uses, but where a call says else.
 * All calls throw AppError: `unavailable` in words for people when the machine refuses, `validation_failed` for an id or key that is none.
 */
export interface Volumes {
  readonly capabilities: VolumeCapabilities

  /** Bytes that new and growing volumes can still have, as far as is known without asking anybody far away. */
  roomBytes(): number

  /** Why workloads of this engine can have no volume at this path, as a sentence for people; undefined where they can. */
  pathProblem(mountPath: string): string | undefined

  /** Where a workload finds its volume, as it sees it: at the path that it asks for, wherever the engine can bring it there. */
  pathOf(mount: VolumeMount): string

  /** Makes an empty volume, unless it is there. Nothing is left of one that could not be made. */
  make(volume: NewVolume): Promise<void>

  /** Has a volume take this size in place of its former one, both in GiB; where `capabilities` say so also while it is in use. One that could not grow keeps its former size. */
  grow(id: string, size: { fromGb: number; toGb: number }): Promise<void>

  /** Has all that is in a volume belong to another owner, as whom workloads then find it. */
  give(id: string, owner: Owner): Promise<void>

  /** Whether a machine still holds a volume, which may be a moment longer than the last workload that had it. */
  isInUse(id: string): Promise<boolean>

  /** What the content takes; undefined where that cannot be told within a few seconds. It may be in use. */
  usage(id: string, unit: SizeUnit, signal: AbortSignal): Promise<number | undefined>

  /**
   * Keeps the content, in use or not, as it is at one moment under a key, unless that is there already. Writes may wait. Returns its bytes.
   * @throws the signal's reason when aborted; then and after another failure nothing stands under the key.
   */
  snapshot(id: string, key: string, signal: AbortSignal): Promise<number>

  /** Gives back what a snapshot reserves beyond its content, if there is room to. Returns the bytes it then takes. @throws the signal's reason when aborted. */
  compactSnapshot(id: string, key: string, signal: AbortSignal): Promise<number>

  /** Keys of all snapshots that are there, content that a restore has replaced included. */
  listSnapshots(id: string): Promise<string[]>

  /** Forgets a snapshot, or what was begun of one. */
  removeSnapshot(id: string, key: string): Promise<void>

  /** Does what of a restore can be done while the volume is in use, so that the restore itself takes a moment. The size is in GiB. */
  prepareRestore(id: string, restore: { key: string; sizeGb: number }): Promise<void>

  /** Puts a snapshot in the content's place, which is kept as `keepAs`; where that is there already, does only what is missing. The size is in GiB. */
  restore(id: string, restore: { key: string; keepAs: string; sizeGb: number }): Promise<void>

  /** Removes a volume with all its snapshots, or what was begun of it. */
  remove(id: string): Promise<void>

  /** Ids of all volumes, begun ones included, so that the caller can remove those that it does not know. */
  list(): Promise<string[]>
}
