/** The repository of a service, in which everything is done by git. Each call can be made again after a kill. */
import { existsSync } from 'node:fs'
import { AppError } from '../../../../shared/error.ts'
import { type Paths, servicePathsOf } from '../../../platform/paths.ts'
import { ensureFolder, ensureServiceFolders } from '../../../platform/service-folders.ts'
import type { AppContext } from '../../context.ts'
import { requireGit } from '../../git/hardened.ts'
import { COMMIT_FORMAT, type ParsedCommit, parseCommit } from '../../repositories/git/commit.ts'
import { NO_OBJECT, type RefUpdate } from '../protocol/commands.ts'
import { PENDING } from '../refs/rules.ts'
import { noteRepository, repositoryRow } from '../refs/store.ts'
import type { Repository } from './command.ts'
import { askGit, runBeside, runGit } from './run.ts'

const USERS_ALONE = 0o700

/** Files are deployed as they are committed, whatever the repository says of exports. */
const ATTRIBUTES = '* -export-ignore -export-subst -ident\n'

export const pendingRef = (pushId: string, index: number): string => `${PENDING}${pushId}/${index}`

type Given = Pick<AppContext, 'db' | 'paths' | 'now' | 'stopping'>

interface Owned {
  id: string
  uid: number
}

export const repositoryOf = (paths: Paths, { id, uid }: Owned): Repository => ({
  serviceId: id,
  folder: servicePathsOf(paths, id).git,
  uid,
})

/** Repositories that are being made, by their folders: whoever asks for one meanwhile waits for it. */
const beingMade = new Map<string, Promise<void>>()

/** Makes the repository where there is none. @throws AppError not_configured without git. */
export async function ensureRepository(context: Given, service: Owned, signal: AbortSignal): Promise<Repository> {
  requireGit()
  const repository = repositoryOf(context.paths, service)
  if (repositoryRow(context.db, service.id) !== undefined && existsSync(repository.folder)) return repository
  const made = beingMade.get(repository.folder) ?? make(context, { service, repository }).finally(() => beingMade.delete(repository.folder))
  beingMade.set(repository.folder, made)
  await made
  signal.throwIfAborted()
  return repository
}

/** Several may wait for it, so that no client's leaving ends it. */
async function make(
  { db, paths, now, stopping: signal }: Given,
  { service, repository }: { service: Owned; repository: Repository },
): Promise<void> {
  await ensureServiceFolders(paths, service)
  await ensureFolder(repository.folder, USERS_ALONE, { uid: service.uid, gid: service.uid })
  await runGit(repository, ['init', '--quiet', '--bare', '--template=', '--initial-branch=main', '.'], { signal })
  await runBeside(repository, ['mkdir', '-p', 'info'], { signal })
  await runBeside(repository, ['tee', 'info/attributes'], { input: ATTRIBUTES, signal })
  noteRepository(db, service.id, now())
}

export async function readRefs(repository: Repository, signal: AbortSignal): Promise<Map<string, string>> {
  const text = await runGit(repository, ['for-each-ref', '--format=%(objectname) %(refname)'], { signal })
  const lines = text.split('\n').filter((line) => line !== '')
  return new Map(lines.map((line) => [line.slice(NO_OBJECT.length + 1), line.slice(0, NO_OBJECT.length)]))
}

export async function moveRefs(repository: Repository, updates: readonly RefUpdate[], signal: AbortSignal): Promise<string | undefined> {
  if (updates.length === 0) return undefined
  const lines = updates.map(({ ref, from, to }) => (to === NO_OBJECT ? `delete ${ref} ${from}\n` : `update ${ref} ${to} ${from}\n`))
  const { exitCode, complaint } = await askGit(repository, { args: ['update-ref', '--stdin'] }, { input: lines.join(''), signal })
  return exitCode === 0 ? undefined : complaint.replace(/^fatal: /, '') || 'git could not move it'
}

/** What lets go of the objects that a push has brought; those that no other ref leads to are removed later. */
export const pendingOf = (refs: ReadonlyMap<string, string>, pushId: string): RefUpdate[] =>
  [...refs].flatMap(([ref, from]) => (ref.startsWith(`${PENDING}${pushId}/`) ? [{ ref, from, to: NO_OBJECT }] : []))

export async function dropRefs(repository: Repository, drops: readonly RefUpdate[], signal: AbortSignal): Promise<void> {
  const problem = await moveRefs(repository, drops, signal)
  if (problem !== undefined) throw new AppError('unavailable', problem)
}

export const setHead = (repository: Repository, ref: string, signal: AbortSignal): Promise<string> =>
  runGit(repository, ['symbolic-ref', 'HEAD', ref], { signal })

export interface Commit extends ParsedCommit {
  hasSubmodules: boolean
}

/** The commit that an object is or, where it is a tag, names. @throws AppError bad_request where it is none. */
export async function readCommit(repository: Repository, object: string, signal: AbortSignal): Promise<Commit> {
  const show = ['log', '-1', '--no-show-signature', '--encoding=UTF-8', `--format=${COMMIT_FORMAT}`, object, '--']
  const [shown, modules] = await Promise.all([
    askGit(repository, { args: show }, { signal }),
    askGit(repository, { args: ['cat-file', '-e', `${object}:.gitmodules`] }, { signal }),
  ])
  const commit = shown.exitCode === 0 ? parseCommit(shown.output.toString('utf8')) : undefined
  if (commit === undefined) throw new AppError('bad_request', 'A branch has to point to a commit.')
  return { ...commit, hasSubmodules: modules.exitCode === 0 }
}
