/**
 * Packing takes a processor for as long as there is content, so it is done in a process of its own: a gigabyte must not hold up the API. The task
 * is the first line of standard input, where no other user sees its key, and content follows, unless a program is to be started that writes it;
 * the outcome leaves as a line of JSON.
 */
import { createWriteStream, writeSync } from 'node:fs'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AppError, messageOf } from '../../../../shared/error.ts'
import { type Command, startCommand, wholeOutput } from '../../../platform/process/command.ts'
import { BackupDamaged, type Packed, packFile, unpackFile } from './pack.ts'
import { checkedSnapshot } from './snapshot-check.ts'
import { entryReader } from './tar-entry.ts'

export type PackTask =
  | { is: 'pack'; recipient: string; path: string; format?: Format }
  | ({ is: 'packOutput' } & OutputTask)
  | { is: 'unpack'; identity: string; files: readonly PackedFile[] }

/** The archive that a program writes, and one of its files beside it. */
export interface OutputTask {
  recipient: string
  command: Command
  archivePath: string
  entry: { name: string; path: string }
}

export interface PackedOutput {
  archive: Packed
  entry: Packed
}

export type Format = keyof typeof checks
const checks = { snapshot: checkedSnapshot }

export interface PackedFile {
  from: string
  digest: string
  /** Absent: it is read to its end for nothing but its soundness. */
  path?: string
  format?: Format
}

export type PackOutcome =
  | { done: Packed | PackedOutput | null }
  | { damaged: string; from?: string }
  | { refused: string }
  | { failed: string; code?: string }

export async function runPacking(): Promise<never> {
  const outcome = await outcomeOf(Bun.stdin.stream())
  try {
    writeSync(1, `${JSON.stringify(outcome)}\n`)
  } finally {
    process.exit(0)
  }
}

async function outcomeOf(input: ReadableStream<Uint8Array>): Promise<PackOutcome> {
  try {
    const { task, rest } = await taskFrom(input)
    if (task.is === 'pack') return { done: await packFile(checked(rest, task), task.path, task) }
    if (task.is === 'packOutput') return { done: await packOutput(task) }
    for (const file of task.files) {
      const damaged = await unpackTo(file, task.identity)
      if (damaged !== undefined) return { damaged, from: file.from }
    }
    return { done: null }
  } catch (error) {
    if (error instanceof BackupDamaged) return { damaged: error.reason }
    const code = error instanceof Error && 'code' in error ? { code: String(error.code) } : {}
    return error instanceof AppError ? { refused: error.message } : { failed: messageOf(error), ...code }
  }
}

async function packOutput({ recipient, command, archivePath, entry }: OutputTask): Promise<PackedOutput> {
  const running = startCommand(command, { stdout: 'pipe' })
  const reader = entryReader(entry.name)
  const archive = await packFile(reader.through(wholeOutput(running)), archivePath, { recipient })
  return { archive, entry: await packFile([reader.content()], entry.path, { recipient }) }
}

const checked = (content: AsyncIterable<Uint8Array>, { format }: { format?: Format }): AsyncIterable<Uint8Array> =>
  format === undefined ? content : checks[format](content)

const nowhere = (): Writable => new Writable({ write: (_chunk, _, done) => done() })

async function unpackTo({ from, digest, path, format }: PackedFile, identity: string): Promise<string | undefined> {
  try {
    const content = await unpackFile(from, { identity, digest })
    const to = path === undefined ? nowhere() : createWriteStream(path, { flags: 'wx', mode: 0o600 })
    await pipeline(checked(content, format === undefined ? {} : { format }), to)
    return undefined
  } catch (error) {
    if (error instanceof BackupDamaged) return error.reason
    throw error
  }
}

const LINE_END = 10

async function taskFrom(input: ReadableStream<Uint8Array>): Promise<{ task: PackTask; rest: AsyncGenerator<Uint8Array> }> {
  const chunks = input[Symbol.asyncIterator]()
  let line = Buffer.alloc(0)
  for (let end = -1; ; ) {
    const { done, value } = await chunks.next()
    if (done === true) throw new Error('No task was given')
    line = Buffer.concat([line, value])
    end = line.indexOf(LINE_END)
    if (end === -1) continue
    const task = JSON.parse(line.subarray(0, end).toString()) as PackTask
    return { task, rest: following(line.subarray(end + 1), chunks) }
  }
}

async function* following(first: Uint8Array, chunks: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (first.length > 0) yield first
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value
}

/** In the source tree this file is a program; the executable has it as a command. */
if (import.meta.main) void runPacking()
