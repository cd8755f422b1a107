/** Programs that come with the platform or with the machine, for what is no app of a tenant: the servers of databases, and their tools. */

import type { Pooler } from './pooler.ts'

export type ProgramKind = 'postgres' | 'valkey'

export interface Program {
  kind: ProgramKind
  /** Names these very files, to engines as well (`Files.programs`). It changes whenever they do. */
  name: string
  /** What the program tells, such as 18.6. */
  version: string
  /** The part of the version within which data stays readable, such as 18. */
  major: string
  /** Inside this executable, or the operator's own on this machine. */
  source: 'embedded' | 'own'
  /** Path of the server below the folder, such as bin/postgres. */
  server: string
}

export interface Programs {
  readonly pooler: Pooler

  /** What can be run here of a kind, the newest first. Nothing is unpacked for it. */
  available(kind: ProgramKind): readonly Program[]

  /**
   * Has a program's files in their folder, and gives that: unpacked at first use, from then on at once.
   * @throws AppError `not_found` for a name that is not available, `unavailable` when it cannot be unpacked.
   */
  ensure(name: string): Promise<string>

  /** Where a program of this name stands, whether it is there or not: for engines on this machine, and for nobody else. */
  folder(name: string): string
}
