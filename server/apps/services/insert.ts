import type { Database } from 'bun:sqlite'
import { slugify } from '../../../shared/slug.ts'
import { randomLetters } from '../../platform/id.ts'
import { insertServiceRow, isSlugTaken, type NewService } from './store.ts'
import { nextUid } from './user-ids.ts'

/** Belongs in the transaction that checked the name. */
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
