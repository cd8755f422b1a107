import { isCommitId } from '../../../../shared/repository.ts'
import type { StoredCommit } from '../../sources/store.ts'

export interface ParsedCommit extends StoredCommit {
  commitId: string
}

const MAX_MESSAGE_CHARS = 2000
const MAX_AUTHOR_CHARS = 200

export const COMMIT_FORMAT = '%H%x00%an%x00%ct%x00%B'

export function parseCommit(printed: string): ParsedCommit | undefined {
  const [id = '', author = '', seconds = '', ...message] = printed.split('\0')
  if (!isCommitId(id)) return undefined
  const committedAt = Number(seconds) * 1000
  return {
    commitId: id,
    commitAuthor: visible(author).slice(0, MAX_AUTHOR_CHARS),
    commitMessage: visible(message.join(' ')).slice(0, MAX_MESSAGE_CHARS),
    // The clock of whoever committed may stand anywhere.
    committedAt: Number.isSafeInteger(committedAt) && committedAt >= 0 && committedAt < MAX_TIME_MS ? committedAt : null,
  }
}

/** The year 9999: later ones are written in another form. */
const MAX_TIME_MS = 253_402_300_799_999

const visible = (text: string): string => text.replace(/[^\P{Cc}\n\t]|[\p{Cf}\p{Zl}\p{Zp}]/gu, '').trim()
