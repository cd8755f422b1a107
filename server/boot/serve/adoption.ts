import { AppError } from '../../../shared/error.ts'
import { type Adopted, adoptSet, type Described, describedSets, keyIn } from '../../apps/backups/offsite/adopt.ts'
import { backupSetOf } from '../../apps/backups/rows/set-store.ts'
import { repositoryOf } from '../../apps/backups/work/work.ts'
import type { AdoptRequest, DescribedSet } from '../serve-socket/operations.ts'
import type { Context } from './context.ts'

/** What the bucket has for a key, of this server and of others. @throws AppError in words for the operator. */
export async function listDescribed(context: Context, keyText: string): Promise<DescribedSet[]> {
  const { identity } = await keyIn(keyText)
  const found = await Array.fromAsync(describedSets(repositoryOf(context), identity))
  return found.map((described) => present(context, described))
}

/** Takes sets of another server to be recovered from here: those that are named, or all. @throws AppError as `adoptSet` does. */
export async function adoptDescribed(context: Context, { key, ids, workspaceId }: AdoptRequest): Promise<DescribedSet[]> {
  const { identity } = await keyIn(key)
  const into = workspaceFor(context, workspaceId)
  const deps = repositoryOf(context)
  const found = await Array.fromAsync(describedSets(deps, identity))
  const adopted: DescribedSet[] = []
  for (const described of wantedOf(context, found, ids)) {
    const { missing } = await adopt(context, described, { identity, workspaceId: into })
    adopted.push({ ...present(context, described), ...(missing > 0 && { problem: `${missing} of its files are missing at the bucket` }) })
  }
  return adopted
}

async function adopt(context: Context, { key, description }: Described, into: { identity: string; workspaceId: string }): Promise<Adopted> {
  if (description === undefined) throw new AppError('not_found', `What ${key} says cannot be read`)
  const adopted = await adoptSet(repositoryOf(context), { ...into, description })
  context.audit.report({
    event: 'backups.adopted',
    workspaceId: into.workspaceId,
    target: description.set.datastoreId,
    metadata: { name: description.set.name },
  })
  return adopted
}

function wantedOf({ db }: Context, found: readonly Described[], ids: readonly string[]): Described[] {
  const readable = found.filter(({ description }) => description !== undefined)
  const missing = ids.find((id) => !readable.some(({ description }) => description?.set.datastoreId === id))
  if (missing !== undefined)
    throw new AppError('not_found', `The bucket has no ${missing} that this key opens. \`cpd backups list\` tells what it has.`)
  if (ids.length > 0) return readable.filter(({ description }) => ids.includes(description?.set.datastoreId ?? ''))
  const isOwn = (id: string) => backupSetOf(db, id)?.adoptedUntil === null
  return readable.filter(({ description }) => description !== undefined && !isOwn(description.set.datastoreId))
}

/** The first workspace is that of the administrator whom a new server begins with. */
function workspaceFor({ db }: Context, id: string | undefined): string {
  const query = 'SELECT id FROM workspaces WHERE deleted_at IS NULL AND ($id IS NULL OR id = $id) ORDER BY created_at, id'
  const found = db.query<{ id: string }, { id: string | null }>(query).get({ id: id ?? null })
  if (found === null) throw new AppError('not_found', `There is no workspace ${id ?? ''}`.trim())
  return found.id
}

function present({ db }: Context, { key, description, problem }: Described): DescribedSet {
  if (description === undefined) return { id: key, ...(problem !== undefined && { problem }) }
  const { set, backups, logUntil } = description
  const known = backupSetOf(db, set.datastoreId)
  const completed = backups.map(({ completedAt }) => completedAt ?? 0).toSorted((one, other) => one - other)
  return {
    ...{ id: set.datastoreId, name: set.name, kind: set.kind, version: set.version, backups: backups.length },
    ...(completed[0] !== undefined && { from: new Date(completed[0]).toISOString() }),
    until: new Date(logUntil).toISOString(),
    state: known === undefined ? 'at the bucket' : known.adoptedUntil === null ? 'of this server' : 'adopted',
  }
}
