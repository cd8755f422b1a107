import type { Database } from 'bun:sqlite'
import { slugify } from '../../../shared/slug.ts'
import { randomLetters } from '../../platform/id.ts'
import { insertServiceRow, isSlugTaken, type NewService } from './store.ts'

/** Belongs into the transaction that checked the name. */
export function insertService(db: Database, service: Omit<NewService, 'slug' | 'uid'>, isReserved: (slug: string) => boolean): void {
  insertServiceRow(db, { ...service, slug: freeSlug(db, service.name, isReserved), uid: nextUid(db) })
}

const SLUG_SUFFIX_LETTERS = 4

function freeSlug(db: Database, name: string, isReserved: (slug: string) => boolean): string {
  const wanted = slugify(name)
  for (let slug = wanted; ; slug = `${wanted}-${randomLetters(SLUG_SUFFIX_LETTERS)}`) {
    if (!isReserved(slug) && !isSlugTaken(db, slug)) return slug
  }
}

/**
 * The block of user ids of this installation begins at random between these, so that two on one machine do not meet.
 * Above what distributions, containers (524,288 to 1,879,048,191 in systemd's list of uids) and NFS's nobody use.
 */
const UID_BLOCK = 65_536
const FIRST_UID = 1_900_019_712
const UID_BLOCKS = 3000

/** User ids are never used again: a file left over anywhere can't become a stranger's. */
function nextUid(db: Database): number {
  const row = db.query<{ value: string }, []>("SELECT value FROM meta WHERE key = 'next_uid'").get()
  const uid = row === null ? FIRST_UID + UID_BLOCK * Math.floor(Math.random() * UID_BLOCKS) : Number(row.value)
  db.query("INSERT INTO meta (key, value) VALUES ('next_uid', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value").run(
    String(uid + 1),
  )
  return uid
}
