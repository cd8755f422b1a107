/**
 * What is desired of engines is sets: so many replicas of one program. A deploy in one generation is a set, and so is a job, of one replica.
 * Who wants something run writes a set and reads what is reported of its replicas; starting, probing, pauses and healing lie below this
 * port. Engines that only start and stop have it from one keeper, runtime/workloads/keeper.ts; an engine that keeps sets by itself would
 * satisfy it directly.
 */

export interface SetOwner {
  ownerKind: string
  ownerId: string
}

export interface DesiredSet extends SetOwner {
  id: string
  /** What the set is to its owner, who may have several kinds. */
  purpose: string
  spec: Record<string, unknown>
  /** 0 for a set that is asleep. */
  replicas: number
}

export interface KnownSet extends DesiredSet {
  isFrozen: boolean
  /** The set goes as soon as nothing of it is left. */
  isDropped: boolean
}

/**
 * Where a replica stands, as it was reported last. `pending` waits for its time to start, `starting` was handed to the engine and is not known
 * to be up, `running` is up (and healthy, where its owner asks for that), `stopping` is on its way out, and of `ended` nothing is left but
 * the row.
 */
export type ReplicaPhase = 'pending' | 'starting' | 'running' | 'stopping' | 'ended'

export interface Replica {
  id: string
  /** Null for what no set keeps. */
  setId: string | null
  phase: ReplicaPhase
  restarts: number
  /** Where it is reached while it runs, as its engine says. */
  address: string | null
  /** Where it listens, which may be elsewhere than the engine told it; null for one that listens nowhere. */
  port: number | null
  /** Milliseconds since 1970, set while it may be frozen. */
  frozenAt: number | null
}

export interface Sets {
  /**
   * Has exactly this set exist, at this size. The intent is written down when this returns, and is part of the caller's transaction; it is
   * brought about afterwards. The same twice is nothing, another size is a scaling, and a set that is being dropped is wanted again.
   * @throws AppError `conflict` for another program under the id of a set that is known.
   */
  apply(set: DesiredSet): void
  /** Ends all of a set and forgets it. Idempotent. */
  drop(id: string): void
  /** Freezes all of a set or lets it go on. A frozen set begins no replica. Idempotent. */
  freeze(id: string, isFrozen: boolean): void
  /** Has a replica give way to another of its set. Nothing happens to one that is on its way out. */
  replace(replicaId: string): void

  /** Sets of an owner, oldest first, those that are being dropped included. */
  sets(owner: SetOwner): KnownSet[]
  /** Replicas of a set, oldest first. */
  instances(setId: string): Replica[]
  /** Whether the engine has been asked about each replica of an owner since this control plane began: before, its death may be unknown. */
  isKnown(owner: SetOwner): boolean
  /** Told whose sets have changed. Levels and no edges: whoever missed a hundred changes reads the same as whoever saw them. */
  onChange(listener: (owner: SetOwner) => void): () => void
}
