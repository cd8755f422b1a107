import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NewLogLine } from '../../../../server/telemetry/logs/line.ts'
import { type LogStore, openLogStore } from '../../../../server/telemetry/logs/store.ts'

export interface Fixture {
  dir: string
  path: string
  store: LogStore
  remove(): void
}

export function makeStore(): Fixture {
  const dir = mkdtempSync(join(tmpdir(), 'cpd-logs-'))
  const path = join(dir, 'logs.db')
  const store = openLogStore(path)
  return {
    dir,
    path,
    store,
    remove() {
      store.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

export const BASE_MS = Date.UTC(2026, 0, 1)

export const makeLine = (message: string, over: Partial<NewLogLine> = {}): NewLogLine => ({
  timestampMs: BASE_MS,
  resource: 'srv-a',
  instance: 'srv-a-1',
  type: 'app',
  level: 'info',
  message,
  ...over,
})

/** A reproducible source of numbers below `n`. */
export function randomFrom(seed: number): (n: number) => number {
  let state = seed | 1
  return (n) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % n
  }
}

/** Waits for a fact to come true. */
export async function until(isTrue: () => boolean, timeoutMs = 20_000): Promise<void> {
  const deadline = Date.now() + timeoutMs
  while (!isTrue()) {
    if (Date.now() > deadline) throw new Error('it did not come true in time')
    await Bun.sleep(5)
  }
}
