import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Value } from '@sinclair/typebox/value'
import { replaceFile } from '../../platform/files/replace-file.ts'
import { TrafficCounts } from './counts.ts'

const namePattern = /^last-counts-[\w-]+\.json$/

/** Writes the final counts of an ending ingress to a file: nobody can ask its process for them any more. */
export async function leaveCounts(dir: string, counts: TrafficCounts): Promise<void> {
  await replaceFile(join(dir, `last-counts-${counts.epoch}.json`), JSON.stringify(counts))
}

/** Gives what ended ingresses have left to `take`, then removes it: a kill in between gives the same epoch again, which adds nothing. */
export async function takeCounts(dir: string, take: (counts: TrafficCounts) => void): Promise<void> {
  for (const name of (await readdir(dir)).filter((one) => namePattern.test(one))) {
    const path = join(dir, name)
    const counts: unknown = JSON.parse(await readFile(path, 'utf8'))
    if (Value.Check(TrafficCounts, counts)) take(counts)
    await rm(path, { force: true })
  }
}
