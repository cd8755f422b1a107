import { existsSync, lstatSync, readdirSync, renameSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setFoldersOf } from '../repository/layout.ts'
import { ensureSetFolders, type RepositoryDeps } from '../repository/repository.ts'
import { isHistory, isSegment, SEGMENT_BYTES, timelineOf } from '../rules/wal-names.ts'
import { ensureToolFolder } from './folders.ts'
import { type BackupSource, connectionArgs, startTool } from './tools.ts'

/** The place in the log that the server keeps for us. */
export const SLOT = 'cpd_backup'
/** The end of the name of a segment that is being written. */
export const PARTIAL = '.partial'

export interface Receiver {
  ended: Promise<string>
  stop(): Promise<void>
}

export interface StreamSource extends BackupSource {
  /** Whether the server lets no commit be done before we have it on the disk. */
  areCommitsWaiting: boolean
}

const STATUS_SECONDS = 2
const STOP_MS = 5000

/**
 * Streams the log of a server into the folder of its set. Unless commits wait for us, the disk is asked to keep it at the end of each segment
 * alone: until then the slot has the server keep the segment, which is sent again after a loss of power. It ends with its connection, and with us.
 */
export async function startReceiver(
  deps: RepositoryDeps,
  { areCommitsWaiting, ...source }: StreamSource,
  datastoreId: string,
): Promise<Receiver> {
  await ensureSetFolders(deps, datastoreId)
  const { root: folder } = setFoldersOf(deps.paths, datastoreId)
  const incoming = await ensureToolFolder(setFoldersOf(deps.paths, datastoreId).incoming, source.uid)
  removeTorn(incoming)
  const { process, done } = startTool({
    ...{ programs: source.programs, uid: source.uid, folder, name: 'pg_receivewal' },
    args: [
      ...connectionArgs(source),
      '--directory',
      incoming,
      '--slot',
      SLOT,
      ...(areCommitsWaiting ? ['--synchronous'] : []),
      '--no-loop',
      `--status-interval=${STATUS_SECONDS}`,
    ],
    env: { PGPASSWORD: source.password },
  })
  const ended = done.then(
    () => 'The server has ended the stream.',
    (error: Error) => error.message,
  )
  return {
    ended,
    async stop() {
      process.kill('SIGINT')
      const late = setTimeout(() => process.kill('SIGKILL'), STOP_MS)
      await ended
      clearTimeout(late)
    },
  }
}

/**
 * A receiver that was killed while it made a file leaves it shorter than a segment, with nothing in it yet; pg_receivewal refuses to go on with
 * one ("should be 0 or 16777216") for ever.
 */
export function removeTorn(incoming: string): void {
  for (const name of readdirSync(incoming)) {
    const stat = lstatSync(join(incoming, name))
    if (!stat.isDirectory() && !isHistory(name) && stat.size !== SEGMENT_BYTES) unlinkSync(join(incoming, name))
  }
}

/**
 * Ends what is begun of a segment, which another stream will not continue. Of a former time line it is the last there will ever be, and may hold what
 * no server has any more: it is whole as it is, as a log ends where its records do. Of the server's own it is sent once more.
 */
export function endUnfinished(deps: Pick<RepositoryDeps, 'paths'>, datastoreId: string, timeline: number): void {
  const { incoming } = setFoldersOf(deps.paths, datastoreId)
  if (!existsSync(incoming)) return
  removeTorn(incoming)
  for (const name of readdirSync(incoming)) {
    if (!name.endsWith(PARTIAL)) continue
    const segment = name.slice(0, -PARTIAL.length)
    const isLast = isSegment(segment) && timelineOf(segment) < timeline
    if (isLast) renameSync(join(incoming, name), join(incoming, segment))
    else unlinkSync(join(incoming, name))
  }
}

export const incomingIn = (deps: Pick<RepositoryDeps, 'paths'>, datastoreId: string, name = ''): string =>
  join(setFoldersOf(deps.paths, datastoreId).incoming, name)
