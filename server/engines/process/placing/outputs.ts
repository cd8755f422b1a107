import { readdir } from 'node:fs/promises'
import { GrowingFile } from '../../../platform/files/growing/growing-file.ts'
import { OUTPUT_SUFFIX, outputFileIn, type Paths, servicePathsOf } from '../../../platform/paths.ts'
import type { Outputs } from '../../port/output.ts'

export const outputsIn = (paths: Paths): Outputs => ({
  open: ({ ownerId, name }) => new GrowingFile(outputFileIn(servicePathsOf(paths, ownerId), name), { mayBeEmptied: true }),
  async list(ownerId) {
    const files = await readdir(servicePathsOf(paths, ownerId).output).catch(() => [])
    return files.filter((file) => file.endsWith(OUTPUT_SUFFIX)).map((file) => file.slice(0, -OUTPUT_SUFFIX.length))
  },
})
