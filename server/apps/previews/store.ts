import type { Database } from 'bun:sqlite'
import { flag } from '../../platform/db/codec.ts'
import { tableOf } from '../../platform/db/table.ts'

/** A request at a source host, as a service whose repository it is for sees it. Times are milliseconds since 1970. */
export interface StoredPreview {
  parentId: string
  number: number
  /** Key of the repository (see shared/repository.ts) that it was made at. */
  repository: string
  title: string
  url: string
  headBranch: string
  headRepository: string
  headCommit: string
  isFork: boolean
  isOpen: boolean
  isLabelled: boolean
  isAsked: boolean
  dismissedCommit: string | null
  approvedCommit: string | null
  deployedCommit: string | null
  serviceId: string | null
  problem: string | null
  pushedAt: number
  createdAt: number
  updatedAt: number
  commentMark: string | null
  commentId: string | null
  commentText: string
  commentAttempts: number
  commentNextAt: number
}

const previews = tableOf<StoredPreview>('previews', {
  parentId: 'parent_id',
  number: 'number',
  repository: 'repository',
  title: 'title',
  url: 'url',
  headBranch: 'head_branch',
  headRepository: 'head_repository',
  headCommit: 'head_commit',
  isFork: { column: 'is_fork', as: flag },
  isOpen: { column: 'is_open', as: flag },
  isLabelled: { column: 'is_labelled', as: flag },
  isAsked: { column: 'is_asked', as: flag },
  dismissedCommit: 'dismissed_commit',
  approvedCommit: 'approved_commit',
  deployedCommit: 'deployed_commit',
  serviceId: 'service_id',
  problem: 'problem',
  pushedAt: 'pushed_at',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  commentMark: 'comment_mark',
  commentId: 'comment_id',
  commentText: 'comment_text',
  commentAttempts: 'comment_attempts',
  commentNextAt: 'comment_next_at',
})

type Key = Pick<StoredPreview, 'parentId' | 'number'>

/** One request of a service; undefined where nothing is known of it. */
export const findPreview = (db: Database, { parentId, number }: Key): StoredPreview | undefined =>
  previews.get(db, 'WHERE parent_id = $parentId AND number = $number', { parentId, number })

/** Requests of a service, newest first: those below `before`, as many as `limit` says. */
export const previewsOf = (db: Database, parentId: string, { before, limit }: { before?: number; limit?: number } = {}): StoredPreview[] =>
  previews.all(db, 'WHERE parent_id = $parentId AND ($before IS NULL OR number < $before) ORDER BY number DESC LIMIT $limit', {
    parentId,
    before: before ?? null,
    limit: limit ?? -1,
  })

/** The request that a service shows; undefined for one that shows none. */
export const previewByService = (db: Database, serviceId: string): StoredPreview | undefined =>
  previews.get(db, 'WHERE service_id = $serviceId', { serviceId })

/** Ids of the services of which requests are known, of a workspace or of all. */
export const parentsWithPreviews = (db: Database, workspaceId: string | null = null): string[] =>
  db
    .query<{ id: string }, { workspaceId: string | null }>(
      `SELECT DISTINCT p.parent_id AS id FROM previews p JOIN services s ON s.id = p.parent_id
       WHERE $workspaceId IS NULL OR s.workspace_id = $workspaceId`,
    )
    .all({ workspaceId })
    .map(({ id }) => id)

/** How many services of a workspace show a request, and how many of them are of this parent, without those that are being deleted. */
export function countPreviews(db: Database, { workspaceId, parentId }: { workspaceId: string; parentId: string }) {
  const counted = db
    .query<{ ofWorkspace: number; ofService: number }, [string, string]>(
      `SELECT count(*) AS ofWorkspace, count(*) FILTER (WHERE preview_of = ?) AS ofService
       FROM services WHERE workspace_id = ? AND preview_of IS NOT NULL AND deleted_at IS NULL`,
    )
    .get(parentId, workspaceId)
  return counted ?? { ofWorkspace: 0, ofService: 0 }
}

/** Whether a preview of this service that had this name is deleted, and not yet gone. */
export const isBeingRemoved = (db: Database, { parentId, name }: { parentId: string; name: string }): boolean =>
  db
    .query<object, [string, string]>('SELECT 1 FROM services WHERE preview_of = ? AND name = ? AND deleted_at IS NOT NULL')
    .get(parentId, name) !== null

/** Adds a request. */
export const insertPreview = (db: Database, preview: Partial<StoredPreview> & Key): void => void previews.insert(db, preview)

/** Changes what is named and nothing else. */
export const changePreview = (db: Database, { parentId, number }: Key, change: Partial<StoredPreview>): void =>
  void previews.update(db, { parentId, number }, change)

/** Has requests at the repository of a service go on where that is now: keys of both are given. */
export const moveRequests = (db: Database, parentId: string, { from, to }: Record<'from' | 'to', string>): void =>
  void previews.update(db, { parentId, repository: from }, { repository: to })

/** Forgets a request. */
export const forgetPreview = (db: Database, { parentId, number }: Key): void => void previews.remove(db, { parentId, number })
