import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GrowingFile, type GrowingFileOptions } from '../../../../server/platform/files/growing/growing-file.ts'
import { guessLevel } from '../../../../server/telemetry/logs/level.ts'
import type { NewLogLine } from '../../../../server/telemetry/logs/line.ts'
import type { LogRate } from '../../../../server/telemetry/logs/rate.ts'
import { type LogStore, openLogStore } from '../../../../server/telemetry/logs/store.ts'
import type { Followed } from '../../../../server/telemetry/logs/tail.ts'

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

export interface FollowedFile extends Partial<Pick<NewLogLine, 'resource' | 'instance' | 'deployId' | 'type'>> {
  path: string
  rate?: LogRate
  file?: Partial<GrowingFileOptions>
}

/** A file that lines of an instance are collected from, under its path. */
export const followedFile = ({ path, rate, file, ...over }: FollowedFile): Followed => ({
  key: path,
  source: new GrowingFile(path, { mayBeEmptied: true, ...file }),
  lineOf: (message, now) => makeLine(message, { timestampMs: now, level: guessLevel(message), ...over }),
  rate,
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
