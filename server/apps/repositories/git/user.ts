import type { Database } from 'bun:sqlite'
import { namedUid } from '../../services/user-ids.ts'

export const gitUid = (db: Database): number => namedUid(db, 'git_uid')
