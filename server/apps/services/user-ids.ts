import type { Database } from 'bun:sqlite'
import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isId } from '../../../shared/id.ts'
import { isRoot } from '../../platform/service-folders.ts'

/**
 * The block of user ids of this installation begins at random between these, so that two on one machine do not meet.
 * Above what distributions, containers (524,288 to 1,879,048,191 in systemd's list of uids) and NFS's nobody use.
 */
const UID_BLOCK = 65_536
const FIRST_UID = 1_900_019_712
const UID_BLOCKS = 3000

/** User ids are never used again: a file left over anywhere can't become a stranger's. */
export function nextUid(db: Database): number {
  const uid = readNext(db) ?? FIRST_UID + UID_BLOCK * Math.floor(Math.random() * UID_BLOCKS)
  writeNext(db, uid + 1)
  return uid
}

/** The user of one of our own tools, who owns nothing but what that works on. It is taken once. */
export function namedUid(db: Database, name: 'git_uid' | 'toolchains_uid'): number {
  return db.transaction(() => {
    const row = db.query<{ value: string }, [string]>('SELECT value FROM meta WHERE key = ?').get(name)
    if (row !== null) return Number(row.value)
    const uid = nextUid(db)
    db.query('INSERT INTO meta (key, value) VALUES (?, ?)').run(name, String(uid))
    return uid
  })()
}

/**
 * Passes over user ids that services and datastores have had which an older database, put back, does not know: their folders are there still, and
 * what runs of them goes on for a while. Each one's folder is root's own, and its group is its user.
 */
export function passOverUsedUids(db: Database, servicesFolder: string): void {
  const next = readNext(db)
  if (!isRoot || next === undefined) return
  const used = readdirSync(servicesFolder)
    .filter((name) => isId('service', name) || isId('postgres', name) || isId('keyValue', name))
    .map((name) => lstatSync(join(servicesFolder, name)).gid)
    .filter((uid) => blockOf(uid) === blockOf(next))
  const free = Math.max(next, ...used.map((uid) => uid + 1))
  if (free > next) writeNext(db, free)
}

const blockOf = (uid: number): number => Math.floor((uid - FIRST_UID) / UID_BLOCK)

function readNext(db: Database): number | undefined {
  const row = db.query<{ value: string }, []>("SELECT value FROM meta WHERE key = 'next_uid'").get()
  return row === null ? undefined : Number(row.value)
}

function writeNext(db: Database, uid: number): void {
  db.query("INSERT INTO meta (key, value) VALUES ('next_uid', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value").run(String(uid))
}
