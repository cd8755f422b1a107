import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { recordedMs } from './durations.ts'

/** Starts the longest files first, so that no worker is left alone with one at the end. Files that nobody has measured come before all. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return [...files].sort((one, other) => durationOf(other) - durationOf(one))
  }
}

const durationOf = ({ moduleId }: TestSpecification): number =>
  recordedMs(moduleId.slice(moduleId.lastIndexOf('/test/') + 1)) ?? Number.MAX_SAFE_INTEGER
