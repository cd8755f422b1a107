/** What becomes of a run's words: how far it is, what it left out, and why it failed, told so that it can be mended. */
import type { TransferProgress } from '../../../../shared/postgres-transfer.ts'

/** The progress out of the last words of a run that goes on. */
export function progressOf(words: string, bytes: number): TransferProgress {
  const [, count = '0', table] = [...words.matchAll(/^cpd-table: (\d+) "?(.*?)"?$/gm)].at(-1) ?? []
  const [, phase = 'starting'] = [...words.matchAll(/^cpd-phase: (.+)$/gm)].at(-1) ?? []
  return { phase, tables: Number(count), ...(table !== undefined && { table }), bytes }
}

export const skippedIn = (words: string): string[] =>
  [...words.matchAll(/^cpd-skipped: (.+)$/gm)].map(([, what]) => what ?? '').slice(0, 100)

interface Remedy {
  when: RegExp
  say: string
}

const remedies: readonly Remedy[] = [
  { when: /cpd-problem: truncated/, say: 'The dump ends before its end. Make it again, and send all of it.' },
  { when: /cpd-problem: no dump/, say: 'The archive holds no dump: no file toc.dat is in it. Make it by pg_dump --format=directory.' },
  { when: /cpd-problem: incomplete/, say: 'The other database broke off at the very end. What came is in this one: compare the two.' },
  {
    when: /unsupported version \([\d.]+\) in file header/,
    say: 'The dump was made by a newer pg_dump than this database has. Make a database of a newer version, or the dump by an older pg_dump.',
  },
  {
    when: /server version mismatch/,
    say: 'The other server is newer than this database. Make a database of its version, and import into that.',
  },
  {
    when: /backslash commands are restricted/,
    say: 'The file holds commands of psql, as those of pg_dumpall and pg_dump --create do. Make it by pg_dump alone, best with --format=custom.',
  },
  {
    when: /role "[^"]*" does not exist/,
    say: 'The dump names roles of its former server. Make it with --no-owner --no-acl, or with --format=custom.',
  },
  {
    when: /(?:relation|type|function|schema|extension) .* already exists/,
    say: 'What is in the dump is in this database as well. Import into an empty database, or have that replaced (--clean).',
  },
  {
    when: /cannot drop .* because other objects depend on it/,
    say: 'Something in this database that is not in the dump depends on what would be replaced. Drop that first, or import into an empty database.',
  },
  {
    when: /password authentication failed|no password supplied/,
    say: 'The other server refuses this user or password. Look both up at its provider.',
  },
  {
    when: /terminating connection|server closed the connection|connection to server .* (?:lost|failed)/,
    say: 'A database went away meanwhile. Try again when both are available.',
  },
  {
    when: /affected by row-level security policy/,
    say: 'This user may not read all rows of a table. Name one that may: its owner where the policy is not forced, or one with BYPASSRLS.',
  },
  {
    when: /permission denied/,
    say: 'This user may not do all that it takes. Name the owner of what is in the other database.',
  },
  { when: /canceling statement due to lock timeout/, say: 'A table was locked for a minute by somebody else. Try again later.' },
  { when: /too many clients|remaining connection slots/, say: 'All places for connections are taken. Try again when some are free.' },
  { when: /No space left on device|could not extend file/, say: 'The disk of the database is full. Make it larger, then try again.' },
  {
    when: /(?:type|function|operator class|access method) .* does not exist|permission denied to create extension|extension .* is not available/,
    say: 'The dump needs an extension that this database does not have.',
  },
  {
    when: /input file (?:does not appear to be a valid archive|is too short)|could not read from input file|corrupt|unexpected end of file|invalid/,
    say: 'The dump is damaged, or was cut off. Make it again.',
  },
]

const SHOWN = 600

/** Why a run failed, for people, out of what it said. */
export function reasonOf(words: string): string {
  const said = words
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('cpd-'))
    .map((line) => line.replace(/^(?:pg_restore|pg_dump|psql:<stdin>:\d+|psql): /, ''))
  const remedy = remedies.find(({ when }) => when.test(words))?.say ?? 'The tools of PostgreSQL failed.'
  const errors = said.filter((line) => /error|fatal|panic/i.test(line))
  const told = (errors.length > 0 ? errors : said.slice(-3)).join(' ').slice(0, SHOWN)
  return told === '' ? remedy : `${remedy} They said: ${told}`
}
