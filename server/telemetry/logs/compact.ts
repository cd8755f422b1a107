/**
 * Appending writes a chunk of rank 0 each time; 32 of those join to one of rank 1, 32 of those to a final one, and a full chunk is final at
 * once. So a line is written at most three times, and a stream has at most 64 open chunks. A larger chunk always takes in all smaller
 * ones before it, so the chunks of a stream never overlap in order of arrival.
 */
export const FULL_CHUNK_BYTES = 96 * 1024
export const JOIN_COUNT = 32

export interface OpenChunks {
  counts: [appended: number, joined: number]
  bytes: number
}

export interface ChunkPlan {
  rank: 0 | 1 | 2
  absorbUpTo: 0 | 1 | undefined
}

export function planChunk(open: OpenChunks, incoming: { bytes: number; mayJoin: boolean }): ChunkPlan {
  const [appended, joined] = open.counts
  if (incoming.bytes >= FULL_CHUNK_BYTES) return { rank: 2, absorbUpTo: 1 }
  if (!incoming.mayJoin) return { rank: 0, absorbUpTo: undefined }
  if (open.bytes + incoming.bytes >= FULL_CHUNK_BYTES) return { rank: 2, absorbUpTo: 1 }
  if (appended + 1 < JOIN_COUNT) return { rank: 0, absorbUpTo: undefined }
  if (joined + 1 < JOIN_COUNT) return { rank: 1, absorbUpTo: 0 }
  return { rank: 2, absorbUpTo: 1 }
}

export function noteChunk(open: OpenChunks, plan: ChunkPlan, newBytes: number): void {
  if (plan.rank === 2) {
    open.counts = [0, 0]
    open.bytes = 0
    return
  }
  const [appended, joined] = open.counts
  open.counts = plan.rank === 0 ? [appended + 1, joined] : [0, joined + 1]
  open.bytes += newBytes
}
