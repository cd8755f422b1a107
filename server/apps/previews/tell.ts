import { AppError } from '../../../shared/error.ts'
import { repositoryKey } from '../../../shared/repository.ts'
import { newToken } from '../../identity/tokens/token.ts'
import type { AppContext } from '../context.ts'
import { type StoredService, serviceById } from '../services/store.ts'
import { type Located, locate } from '../source-hosts/hosts/credential.ts'
import { ifConfigured } from '../source-hosts/hosts/open.ts'
import { pauseAfterRefusal } from '../source-hosts/pauses.ts'
import { pauseAfterError, pausedUntil } from '../source-hosts/store/pauses.ts'
import { commentText } from './comment.ts'
import { presentPreview } from './present.ts'
import { changePreview, previewsOf, type StoredPreview } from './store.ts'

/** Has the one comment at each request of a service say how its preview stands. Returns when to try again (ms since 1970). */
export async function tellRequests(context: AppContext, parentId: string): Promise<number | undefined> {
  const parent = serviceById(context.db, parentId)
  if (parent === undefined || parent.deletedAt !== null) return undefined
  const located = ifConfigured(() => locate(context, parent.workspaceId, parent.labels.repo))
  if (located === undefined) return undefined
  const waiting: number[] = []
  for (const preview of previewsOf(context.db, parentId)) {
    if (preview.repository !== repositoryKey(parent.labels.repo)) continue
    const text = textFor(context, parent, preview)
    if (text === '' || text === preview.commentText) continue
    const at = Math.max(preview.commentNextAt, pausedUntil(context.db, located.installation.id))
    if (at > context.now()) waiting.push(at)
    else await tell(context, { located, preview, text })
  }
  return waiting.length === 0 ? undefined : Math.min(...waiting)
}

const textFor = (context: AppContext, parent: StoredService, preview: StoredPreview): string =>
  commentText(parent.name, presentPreview(context, parent, preview), preview.commentMark !== null)

interface Telling {
  located: Located
  preview: StoredPreview
  text: string
}

async function tell(context: AppContext, { located, preview, text }: Telling): Promise<void> {
  const { host, name } = located
  const { db, stopping: signal } = context
  const mark = preview.commentMark ?? beginComment(context, preview)
  try {
    const known = preview.commentId ?? (await soughtComment(host, { name, preview, mark }, signal))
    const body = `${text}\n\n<!-- ${mark} -->\n`
    const id = await host.comment(name, { request: preview.number, text: body, ...(known !== undefined && { id: known }) }, signal)
    changePreview(db, preview, { commentId: id, commentText: text, commentAttempts: 0, commentNextAt: 0 })
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof AppError)) throw error
    postpone(context, { located, preview }, error)
  }
}

/** A comment that people have removed is not written to any more, but the next one is found or made. */
function postpone({ db, now }: AppContext, { located, preview }: Omit<Telling, 'text'>, error: AppError): void {
  const commentAttempts = preview.commentAttempts + 1
  const gone = error.code === 'not_found' ? { commentId: null } : {}
  changePreview(db, preview, { ...gone, commentAttempts, commentNextAt: now() + pauseAfterRefusal(error, commentAttempts) })
  pauseAfterError(db, located.installation.id, { error, now: now() })
}

/** Written down before the host hears of it. Nobody else can know it before the comment is there, so that what has it is ours. */
function beginComment({ db }: AppContext, preview: StoredPreview): string {
  const commentMark = `cpd-preview ${newToken()}`
  changePreview(db, preview, { commentMark })
  return commentMark
}

const soughtComment = async (
  host: Located['host'],
  { name, preview, mark }: { name: string; preview: StoredPreview; mark: string },
  signal: AbortSignal,
): Promise<string | undefined> =>
  preview.commentMark === null ? undefined : await host.findComment(name, { request: preview.number, text: mark }, signal)
