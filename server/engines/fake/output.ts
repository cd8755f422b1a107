import type { Cursor, OpenOutput, OutputName, OutputRequest, Outputs } from '../port/output.ts'
import type { FaultyCalls } from './faults.ts'
import type { Workload } from './workload.ts'

/** What is kept of one output: bytes from an offset on, counted from the first that was ever written. */
interface Kept {
  number: number
  firstOffset: number
  bytes: Uint8Array
}

export interface FakeOutputs {
  append(writer: Pick<Workload, 'ownerId' | 'outputName' | 'kind'>, bytes: Uint8Array): void
  written(name: string): string
  /** Drops what is oldest, read or not, as an engine does that keeps only so much. */
  rotate(output: OutputName, keptBytes: number): void
  port(faults: FaultyCalls): Outputs
}

export function createFakeOutputs(): FakeOutputs {
  const kept = new Map<string, Kept>()
  const written = new Map<string, Uint8Array>()
  let numbers = 0
  return {
    append({ ownerId, outputName: name, kind }, bytes) {
      written.set(name, joined(written.get(name) ?? nothing, bytes))
      // A terminal has no kept output.
      if (kind === 'terminal') return
      const key = keyOf({ ownerId, name })
      const known = kept.get(key) ?? { number: ++numbers, firstOffset: 0, bytes: nothing }
      kept.set(key, { ...known, bytes: joined(known.bytes, bytes) })
    },
    written: (name) => new TextDecoder().decode(written.get(name) ?? nothing),
    rotate(output, keptBytes) {
      const known = kept.get(keyOf(output))
      if (known !== undefined) dropBefore(known, endOf(known) - keptBytes)
    },
    port: (faults) => ({
      open: (output) => openOutput(kept, keyOf(output), faults),
      list: (ownerId) =>
        faults.around('listOutputs', async () =>
          [...kept.keys()].filter((key) => key.startsWith(`${ownerId}/`)).map((key) => key.slice(ownerId.length + 1)),
        ),
    }),
  }
}

const nothing = new Uint8Array()

const keyOf = ({ ownerId, name }: OutputName): string => `${ownerId}/${name}`
const endOf = ({ firstOffset, bytes }: Kept): number => firstOffset + bytes.length
const cursorOf = ({ number }: Kept, offset: number): Cursor => `${number}:${offset}`

function joined(before: Uint8Array, after: Uint8Array): Uint8Array {
  const all = new Uint8Array(before.length + after.length)
  all.set(before)
  all.set(after, before.length)
  return all
}

function dropBefore(kept: Kept, offset: number): void {
  const dropped = Math.max(0, Math.min(offset, endOf(kept)) - kept.firstOffset)
  kept.firstOffset += dropped
  kept.bytes = kept.bytes.slice(dropped)
}

function openOutput(all: ReadonlyMap<string, Kept> & Pick<Map<string, Kept>, 'delete'>, key: string, faults: FaultyCalls): OpenOutput {
  let seen: Cursor | undefined
  const newest = () => {
    const kept = all.get(key)
    return kept && cursorOf(kept, endOf(kept))
  }
  return {
    hasNew: () => !faults.isPartitioned && newest() !== seen,
    async read(request) {
      const { part, until } = await faults.around('readOutput', async () => {
        const kept = all.get(key)
        return { part: kept && partOf(kept, request), until: newest() }
      })
      seen = until
      return part
    },
    release: (cursor) =>
      faults.around('releaseOutput', async () => {
        const kept = all.get(key)
        if (kept !== undefined) dropBefore(kept, offsetIn(kept, cursor))
        return cursor
      }),
    remove: () => faults.around('removeOutput', async () => void all.delete(key)),
  }
}

function offsetIn(kept: Kept, cursor: Cursor | undefined): number {
  const [number, offset] = (cursor ?? '').split(':')
  return Number(number) === kept.number ? Number(offset) : 0
}

function partOf(kept: Kept, { after, maxBytes, newestBytes = Number.POSITIVE_INFINITY }: OutputRequest) {
  const wanted = offsetIn(kept, after)
  const start = Math.max(wanted, kept.firstOffset)
  const from = Math.max(start, endOf(kept) - newestBytes)
  const at = from - kept.firstOffset
  const bytes = kept.bytes.slice(at, at + maxBytes)
  return {
    bytes,
    cursorAt: (count: number) => cursorOf(kept, from + count),
    skippedBytes: from - start,
    unreadBytes: endOf(kept) - from - bytes.length,
    ...(start > wanted && { hasGap: true as const }),
  }
}
