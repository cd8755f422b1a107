import type { AuditEntry, AuditExportLine, AuditHead } from '../../shared/audit.ts'
import { type AuditFault, faultAt } from '../../shared/audit-fault.ts'
import { type ChainVerifier, createChainVerifier } from '../../shared/audit-verifier.ts'
import { CliError } from '../base/error.ts'
import { eachLine, type ReadLine, readLines } from './lines.ts'
import { proofOf } from './proof.ts'
import type { Witness } from './witness.ts'

export interface Verification {
  stream: ReadableStream<Uint8Array>
  publicKey: string | undefined
  against: ReadableStream<Uint8Array> | undefined
  /** The log as it is now must hold all that is remembered; a copy from some time need not. */
  isLive: boolean
  witnessOf(workspaceId: string): Promise<Witness | undefined>
}

export interface VerificationReport {
  isIntact: boolean
  workspaceId: string
  entries: number
  last?: { sequence: number; hash: string }
  publicKey: string
  /** Why that key is trusted: it was given, was seen before, or came with the entries. */
  keyFrom: 'option' | 'witness' | 'export'
  fault?: AuditFault
}

type ChainLine = Extract<AuditExportLine, { type: 'chain' }>

interface Walk {
  verifier: ChainVerifier
  witness: Witness | undefined
  earlier: AsyncIterator<AuditEntry> | undefined
  earlierEntry: AuditEntry | undefined
  fault: AuditFault | undefined
  reached: number
  end: { head: AuditHead | undefined } | undefined
}

/** Looks at every line of an export. @throws CliError for what is no export of an audit log. */
export async function verifyExport({ stream, publicKey, against, isLive, witnessOf }: Verification): Promise<VerificationReport> {
  const batches = readLines(stream)
  const first = (await batches.next()).value ?? []
  const chain = chainOf(first[0], 'This')
  const { workspaceId, fromSequence, newestSequence } = chain
  const witness = await witnessOf(workspaceId)
  const trusted = publicKey ?? witness?.publicKey ?? chain.publicKey
  const walk: Walk = {
    verifier: createChainVerifier({ ...proofOf(trusted), workspaceId, fromSequence, newestSequence }),
    witness,
    earlier: against === undefined ? undefined : entriesOf(against, workspaceId),
    earlierEntry: undefined,
    fault: undefined,
    reached: fromSequence - 1,
    end: undefined,
  }
  walk.earlierEntry = await nextOf(walk.earlier)
  await look(walk, first.slice(1))
  for await (const lines of batches) await look(walk, lines)
  const { entries, last, fault } = conclude(walk, { isOtherKey: chain.publicKey !== trusted, isLive })
  const keyFrom = publicKey !== undefined ? 'option' : witness !== undefined ? 'witness' : 'export'
  const found = { workspaceId, entries, ...(last !== undefined && { last }), publicKey: trusted, keyFrom } as const
  return { isIntact: fault === undefined, ...found, ...(fault !== undefined && { fault }) }
}

function chainOf(line: ReadLine, what: string): ChainLine {
  if (line?.type === 'chain' && typeof line.workspaceId === 'string' && Number.isSafeInteger(line.fromSequence)) return line
  throw new CliError('bad_request', `${what} is not an export of an audit log.`, { hint: 'cpctl audit export <file> makes one.' })
}

/** The entries of an earlier export. @throws CliError for one of another workspace. */
async function* entriesOf(stream: ReadableStream<Uint8Array>, workspaceId: string): AsyncGenerator<AuditEntry> {
  let isBegun = false
  for await (const line of eachLine(stream)) {
    if (!isBegun && chainOf(line, 'What is given with --against').workspaceId !== workspaceId)
      throw new CliError('bad_request', 'The earlier export is of another workspace.', { hint: 'Give one of this workspace.' })
    isBegun = true
    if (line?.type === 'entry') yield line.entry
  }
}

const nextOf = async (entries: AsyncIterator<AuditEntry> | undefined): Promise<AuditEntry | undefined> => {
  const next = await entries?.next()
  return next?.done === false ? next.value : undefined
}

async function look(walk: Walk, lines: readonly ReadLine[]): Promise<void> {
  for (const line of lines) {
    if (line?.type === 'entry' && walk.end === undefined) {
      seeEntry(walk, line.entry)
      // Only where there is one: a million awaits take their time.
      if (walk.earlierEntry !== undefined) await compare(walk, line.entry)
    } else if (line?.type === 'checkpoint' && walk.end === undefined) walk.end = { head: line.head }
    else walk.fault ??= faultAt('malformed', { sequence: walk.reached + 1 })
  }
}

function seeEntry(walk: Walk, entry: AuditEntry): void {
  walk.verifier.add(entry)
  walk.reached = entry.sequence
  if (walk.witness?.sequence === entry.sequence && walk.witness.hash !== entry.hash) walk.fault ??= faultAt('unlike_before', entry)
}

/** The earlier export may begin elsewhere. */
async function compare(walk: Walk, entry: AuditEntry): Promise<void> {
  while (walk.earlierEntry !== undefined && walk.earlierEntry.sequence < entry.sequence) walk.earlierEntry = await nextOf(walk.earlier)
  if (walk.earlierEntry?.sequence !== entry.sequence) return
  if (walk.earlierEntry.hash !== entry.hash) walk.fault ??= faultAt('unlike_before', entry)
  walk.earlierEntry = await nextOf(walk.earlier)
}

function conclude(
  { verifier, witness, earlierEntry, fault, reached, end }: Walk,
  { isOtherKey, isLive }: { isOtherKey: boolean; isLive: boolean },
) {
  const verdict = verifier.end(end?.head)
  // What the chain itself shows is told before what is only known from elsewhere, unless that shows earlier.
  const own =
    verdict.fault === undefined ? undefined : namedByKey(end === undefined ? cutOff(verdict.fault, reached) : verdict.fault, isOtherKey)
  const expected = Math.max(isLive ? (witness?.sequence ?? 0) : 0, earlierEntry?.sequence ?? 0)
  const outside = fault ?? (expected > reached ? faultAt('unlike_before', { sequence: reached + 1 }) : undefined)
  const first = own === undefined || (outside !== undefined && outside.sequence < own.sequence) ? outside : own
  return { ...verdict, fault: first }
}

/** An export without an end was not read whole. */
const cutOff = (fault: AuditFault, reached: number): AuditFault =>
  fault.kind === 'checkpoint' ? faultAt('cut', { sequence: reached + 1 }, ' (the export has no end)') : fault

/** What carries no signature of the trusted key may carry one of another. */
const namedByKey = (fault: AuditFault, isOtherKey: boolean): AuditFault =>
  isOtherKey && (fault.kind === 'rewritten' || fault.kind === 'checkpoint') ? faultAt('other_key', fault) : fault
