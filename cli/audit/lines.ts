import type { AuditExportLine } from '../../shared/audit.ts'

export type ReadLine = AuditExportLine | undefined

const types: ReadonlySet<unknown> = new Set(['chain', 'entry', 'checkpoint'] satisfies AuditExportLine['type'][])

/** The lines of an export as they come, some at once; of the whole, only what is being read is in memory. */
export async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<ReadLine[]> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield lines.map(parseLine)
  }
  if (rest !== '') yield [parseLine(rest)]
}

function parseLine(text: string): ReadLine {
  try {
    const line = JSON.parse(text) as AuditExportLine | null
    if (!types.has(line?.type)) return undefined
    return line?.type === 'entry' && (typeof line.entry !== 'object' || line.entry === null) ? undefined : (line ?? undefined)
  } catch {
    return undefined
  }
}

/** Reads line by line, for who compares two exports. */
export async function* eachLine(stream: ReadableStream<Uint8Array>): AsyncGenerator<ReadLine> {
  for await (const lines of readLines(stream)) yield* lines
}
