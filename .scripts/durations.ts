import { readFileSync } from 'node:fs'

const recorded: Record<string, number> = JSON.parse(readFileSync(`${import.meta.dirname}/../test/durations.json`, 'utf8'))

/** Milliseconds that a test file took in the full run that was recorded last; undefined for one that is newer. */
export const recordedMs = (file: string): number | undefined => recorded[file]
