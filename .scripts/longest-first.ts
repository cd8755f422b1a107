import { readFileSync } from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const root = `${import.meta.dirname}/..`

/** Milliseconds that each test file took in a full run; `bun .scripts/record-durations.ts` writes them. */
const durations: Record<string, number> = JSON.parse(readFileSync(`${root}/test/durations.json`, 'utf8'))

/** Starts the longest files first, so that no worker is left alone with one at the end. Files that nobody has measured come before all. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return [...files].sort((one, other) => durationOf(other) - durationOf(one))
  }
}

const durationOf = ({ moduleId }: TestSpecification): number =>
  durations[moduleId.slice(moduleId.lastIndexOf('/test/') + 1)] ?? Number.MAX_SAFE_INTEGER
