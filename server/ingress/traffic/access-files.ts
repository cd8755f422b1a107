import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { processStart } from '../../platform/process/process-start.ts'
import { requestsIn } from './access-record.ts'

/** The process that writes a file: its name alone would be given away again. */
export interface AccessWriter {
  startedAt: number
  pid: number
  start: string
}

export interface AccessFile {
  path: string
  writer: AccessWriter
  number: number
}

const NUMBER_DIGITS = 9
const namePattern = /^(\d{13})-(\d+)-(\d+)-(\d+)\.log$/

export function accessFilePath(dir: string, { startedAt, pid, start }: AccessWriter, number: number): string {
  return join(dir, `${startedAt}-${pid}-${start}-${String(number).padStart(NUMBER_DIGITS, '0')}.log`)
}

export function thisWriter(): AccessWriter {
  return { startedAt: Date.now(), pid: process.pid, start: processStart(process.pid) ?? '0' }
}

export async function accessFiles(dir: string): Promise<AccessFile[]> {
  const names = await readdir(dir)
  return names.sort().flatMap((name) => {
    const [, startedAt, pid, start = '', number] = namePattern.exec(name) ?? []
    return number === undefined
      ? []
      : [{ path: join(dir, name), writer: { startedAt: Number(startedAt), pid: Number(pid), start }, number: Number(number) }]
  })
}

export function isFinished(file: AccessFile, all: readonly AccessFile[]): boolean {
  const { pid, start } = file.writer
  return all.some((other) => isSameWriter(other.writer, file.writer) && other.number > file.number) || processStart(pid) !== start
}

function isSameWriter(one: AccessWriter, other: AccessWriter): boolean {
  return one.startedAt === other.startedAt && one.pid === other.pid && one.start === other.start
}

export async function excessFiles(files: readonly AccessFile[], maxBytes: number): Promise<AccessFile[]> {
  const sizes = await Promise.all(
    files.map(({ path }) =>
      stat(path).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  )
  let kept = 0
  let first = files.length
  while (first > 0 && (kept === 0 || kept + (sizes[first - 1] ?? 0) <= maxBytes)) kept += sizes[--first] ?? 0
  return files.slice(0, first)
}

export async function requestsByService(path: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  let rest = ''
  for await (const chunk of createReadStream(path, 'latin1')) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const { serviceId, requests } = requestsIn(line)
      counts.set(serviceId, (counts.get(serviceId) ?? 0) + requests)
    }
  }
  return counts
}
