import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { readIfPresent } from '../../platform/files/read-file.ts'
import { replaceFileSync } from '../../platform/files/replace-file.ts'

/**
 * What an upgrade intends and how far it got, on disk before each step:
 *
 *   staging ─ the new executable is copied beside the old one; nothing has changed
 *   trial ─── the old control plane has closed its databases and runs the new one as its child, to see whether it becomes healthy
 *   commit ── it did; the executable is being replaced
 *   done      or  rolled_back, with the reason
 *
 * Up to `trial` the old executable stands at its path, so whatever dies, the next start is the old one and goes back; from `commit` on
 * the new one has proven itself, and the next start goes on.
 */
export const UpgradeJournal = Type.Object({
  step: Type.Union([
    Type.Literal('staging'),
    Type.Literal('trial'),
    Type.Literal('commit'),
    Type.Literal('done'),
    Type.Literal('rolled_back'),
  ]),
  executable: Type.String(),
  staged: Type.String(),
  from: Type.String(),
  to: Type.String(),
  startedAt: Type.Integer(),
  backup: Type.Optional(Type.String()),
  schema: Type.Optional(Type.Object({ control: Type.Integer(), logs: Type.Integer() })),
  reason: Type.Optional(Type.String()),
})
export type UpgradeJournal = Static<typeof UpgradeJournal>
export type UpgradeStep = UpgradeJournal['step']

/** The last upgrade; undefined before the first, or when the file cannot be understood, which only a newer version writes. */
export function readJournal(path: string): UpgradeJournal | undefined {
  const text = readIfPresent(path)
  if (text === undefined) return undefined
  const value: unknown = JSON.parse(text)
  return Value.Check(UpgradeJournal, value) ? value : undefined
}

export function writeJournal(path: string, journal: UpgradeJournal): UpgradeJournal {
  replaceFileSync(path, `${JSON.stringify(journal, null, 2)}\n`)
  return journal
}
