import { readdir } from 'node:fs/promises'
import { isEntryName } from '../../builders/toolchains/store/rules.ts'
import { sizeOfFolder } from '../../platform/process/folder-size.ts'

export interface FetchedTools {
  names: string[]
  sizeBytes: number | undefined
}

const MEASURE_TIMEOUT_MS = 30_000
const MB = 1_000_000

export async function fetchedTools(dir: string, signal: AbortSignal): Promise<FetchedTools> {
  const found = await readdir(dir).catch(() => [])
  const names = found.filter(isEntryName).sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  return { names, sizeBytes: names.length === 0 ? 0 : await sizeOfFolder(dir, 'bytes', { signal, timeoutMs: MEASURE_TIMEOUT_MS }) }
}

export function fetchedLines({ names, sizeBytes }: FetchedTools): string[] {
  if (names.length === 0) return []
  const size = sizeBytes === undefined ? '' : ` (${Math.round(sizeBytes / MB)} MB)`
  return [`  fetched for builds${size}: ${names.join(', ')}`]
}
