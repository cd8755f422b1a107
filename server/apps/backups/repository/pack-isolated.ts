import { basename, join } from 'node:path'
import { AppError } from '../../../../shared/error.ts'
import { diskFull } from '../../../platform/files/disk-full.ts'
import { isCompiled } from '../../../platform/process/self.ts'
import { type SpawnedProcess, spawnProcess } from '../../../platform/process/spawn.ts'
import { createPlaces } from '../../../platform/work/places.ts'
import { BackupDamaged, type Packed, type Source } from './pack.ts'
import type { Format, OutputTask, PackedFile, PackedOutput, PackOutcome, PackTask } from './pack-child.ts'

const program = isCompiled ? [process.execPath, 'pack'] : [process.execPath, join(import.meta.dirname, 'pack-child.ts')]
const withUs = ['/usr/bin/setpriv', '--pdeathsig=KILL', '--']
/** A backup can wait for whoever serves; the log, and who is recovered, cannot. */
const behindOthers = ['/usr/bin/nice', '-n', '10']

/** Each takes some 100 MiB. The log does not wait for backups, which take minutes. */
const places = { log: createPlaces(2), backup: createPlaces(2) }
export type PackKind = keyof typeof places

interface Packing {
  recipient: string
  kind: PackKind
  format?: Format
  signal?: AbortSignal
}

/** Packs as `packFile` does, in a process of its own. @throws the stream's error; BackupDamaged for a content that is not of its format; AppError unavailable where that process was ended. */
export async function packIsolated(source: Source, path: string, { recipient, kind, format, signal }: Packing): Promise<Packed> {
  const task = { is: 'pack', recipient, path, ...(format && { format }) } as const
  const outcome = await places[kind].run(() => carryOut({ task, kind, source, ...(signal && { signal }) }))
  if ('done' in outcome && outcome.done !== null && 'digest' in outcome.done) return outcome.done
  return refuse(outcome)
}

/** Packs what a program writes, which a process of its own starts and reads: it ends with that. @throws AppError unavailable in the program's words. */
export async function packOutputIsolated(task: OutputTask, signal: AbortSignal): Promise<PackedOutput> {
  const outcome = await places.backup.run(() => carryOut({ task: { is: 'packOutput', ...task }, kind: 'backup', source: [], signal }))
  if ('done' in outcome && outcome.done !== null && 'entry' in outcome.done) return outcome.done
  return refuse(outcome)
}

/** Writes the plain contents of packed files to new ones. @throws BackupDamaged naming the first file that does not hold the content of its digest. */
export async function unpackIsolated(identity: string, files: readonly PackedFile[], { isAwaited }: { isAwaited: boolean }): Promise<void> {
  const kind = isAwaited ? 'log' : 'backup'
  const outcome = await places.backup.run(() => carryOut({ task: { is: 'unpack', identity, files }, kind, source: [] }))
  if (!('done' in outcome)) refuse(outcome)
}

function refuse(outcome: PackOutcome): never {
  if ('damaged' in outcome)
    throw new BackupDamaged(outcome.from === undefined ? outcome.damaged : `${basename(outcome.from)}: ${outcome.damaged}`)
  if ('refused' in outcome) throw new AppError('unavailable', outcome.refused)
  if ('failed' in outcome && outcome.code === 'ENOSPC') throw diskFull(new Error(outcome.failed))
  throw new AppError(
    'unavailable',
    `Backups could not be packed or opened: ${'failed' in outcome ? outcome.failed : 'there was no content'}`,
  )
}

interface Carrying {
  task: PackTask
  kind: PackKind
  source: Source
  signal?: AbortSignal
}

async function carryOut({ task, kind, source, signal }: Carrying): Promise<PackOutcome> {
  signal?.throwIfAborted()
  const child = spawnProcess([...withUs, ...(kind === 'backup' ? behindOthers : []), ...program], {
    ...{ cwd: '/', stdin: 'pipe', stdout: 'pipe', stderr: 'pipe', killSignal: 'SIGKILL' },
    ...(signal && { signal }),
  })
  try {
    const [words, complaints, exit] = await Promise.all([
      textOf(child.stdout),
      textOf(child.stderr),
      child.exited,
      feed(child, task, source),
    ])
    signal?.throwIfAborted()
    if (words.endsWith('\n')) return JSON.parse(words) as PackOutcome
    return { failed: complaints.trim().slice(-500) || `the process was ended by ${exit.signal ?? exit.exitCode}` }
  } finally {
    child.kill('SIGKILL')
  }
}

/** Whoever ends early says why in its outcome; the source's own failure is that of the whole. */
async function feed({ stdin }: SpawnedProcess, task: PackTask, source: Source): Promise<void> {
  if (stdin === undefined) throw new Error('The process that packs has no input')
  const send = async (chunk: Uint8Array | string): Promise<boolean> => {
    try {
      await stdin.write(chunk)
      await stdin.flush()
      return true
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EPIPE') return false
      throw error
    }
  }
  let isTaken = await send(`${JSON.stringify(task)}\n`)
  for await (const chunk of source) {
    if (!isTaken) break
    isTaken = await send(chunk)
  }
  if (isTaken) await stdin.end()
}

const MAX_WORDS = 64 * 1024

async function textOf(stream: SpawnedProcess['stdout']): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of stream ?? []) if (text.length < MAX_WORDS) text += decoder.decode(chunk, { stream: true })
  return text
}
