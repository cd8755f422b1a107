import type { Database } from 'bun:sqlite'
import { openLogReader } from './database.ts'

/** Each search has a connection of its own, since it keeps a transaction open while other work runs. Further searches wait their turn. */
export interface Readers {
  use<T>(read: (reader: Database) => Promise<T>): Promise<T>
  close(): void
}

const MAX_READERS = 8
const KEPT_READERS = 2

export function createReaders(path: string): Readers {
  const idle: Database[] = []
  const waiting: (() => void)[] = []
  let inUse = 0
  let isClosed = false
  return {
    async use(read) {
      // Checked again after waiting: another search may have come first.
      while (inUse >= MAX_READERS) await new Promise<void>((resolve) => waiting.push(resolve))
      inUse++
      try {
        const reader = idle.pop() ?? openLogReader(path)
        try {
          return await read(reader)
        } finally {
          if (isClosed || idle.length >= KEPT_READERS) reader.close()
          else idle.push(reader)
        }
      } finally {
        inUse--
        waiting.shift()?.()
      }
    },
    close() {
      isClosed = true
      for (const reader of idle.splice(0)) reader.close()
    },
  }
}
