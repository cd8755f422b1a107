import { join } from 'node:path'
import { setFoldersOf } from '../repository/layout.ts'
import { ensureSetFolders, type RepositoryDeps } from '../repository/repository.ts'
import { ensureToolFolder } from './folders.ts'
import { type BackupSource, connectionArgs, startTool } from './tools.ts'

/** The place in the log that the server keeps for us. */
export const SLOT = 'cpd_backup'

export interface Receiver {
  ended: Promise<string>
  stop(): Promise<void>
}

const STATUS_SECONDS = 5

/** Streams the log of a server into the folder of its set, each record on the disk before the server is told. It ends with its connection, and with us. */
export async function startReceiver(deps: RepositoryDeps, source: BackupSource, datastoreId: string): Promise<Receiver> {
  await ensureSetFolders(deps, datastoreId)
  const incoming = await ensureToolFolder(setFoldersOf(deps.paths, datastoreId).incoming, source.uid)
  const { process, done } = startTool({
    ...{ programs: source.programs, uid: source.uid, name: 'pg_receivewal' },
    args: [
      ...connectionArgs(source),
      '--directory',
      incoming,
      '--slot',
      SLOT,
      '--synchronous',
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
      await ended
    },
  }
}

export const incomingIn = (deps: Pick<RepositoryDeps, 'paths'>, datastoreId: string, name = ''): string =>
  join(setFoldersOf(deps.paths, datastoreId).incoming, name)
