import { accessFiles, isFinished } from '../../ingress/traffic/access-files.ts'
import { GrowingFile } from '../../platform/files/growing/growing-file.ts'
import type { Collector } from '../logs/collector.ts'
import type { NewLogLine } from '../logs/line.ts'
import { type Repeated, repeat } from './repeated.ts'
import { requestLine } from './request-line.ts'

export interface AccessFeedOptions {
  dir: string
  collector: Collector
  hasService(serviceId: string): boolean
  onError(error: unknown): void
  pollMs?: number
}

const DEFAULT_POLL_MS = 250

/** Brings lines of requests from files of the ingress into the log store. Cursors are stored with them: being killed neither loses nor repeats any. */
export function startAccessFeed({ dir, collector, hasService, onError, pollMs = DEFAULT_POLL_MS }: AccessFeedOptions): Repeated {
  const known = new Map<string, boolean>()
  const followed = new Set<string>()

  const isWanted = (serviceId: string): boolean => {
    const answer = known.get(serviceId) ?? hasService(serviceId)
    known.set(serviceId, answer)
    return answer
  }
  const read = (record: string): NewLogLine | undefined => {
    const line = requestLine(record)
    return line !== undefined && isWanted(line.resource) ? line : undefined
  }
  const poll = async (stopping: AbortSignal) => {
    known.clear()
    const files = await accessFiles(dir)
    const paths = new Set(files.map(({ path }) => path))
    for (const path of followed) {
      if (paths.has(path)) continue
      followed.delete(path)
      await collector.remove(path)
    }
    for (const file of files) {
      if (stopping.aborted) return
      const { path } = file
      followed.add(path)
      // The ingress counts what a file holds, so none is emptied before it is done with it.
      collector.follow({ key: path, source: new GrowingFile(path, { mayBeEmptied: false }), lineOf: read })
      if (!isFinished(file, files)) continue
      await collector.remove(path)
      followed.delete(path)
    }
  }
  return repeat(poll, { pollMs, onError })
}
