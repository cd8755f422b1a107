import type { PostgresExport, PostgresImport } from '../../shared/postgres-transfer.ts'
import { pollUntil } from '../api/poll.ts'
import { CliError } from '../base/error.ts'
import { formatSize } from '../base/figures.ts'
import type { Context } from '../session/context.ts'
import { clean } from '../terminal/text.ts'

type Transfer = PostgresExport | PostgresImport

const CLEAR_LINE = '\r\u001b[K'

/** Waits until an export or import has ended, and tells how far it is. @throws CliError with the reason of one that failed, Interrupted on Ctrl-C. */
export async function untilEnded<T extends Transfer>(context: Context, first: T, ask: () => Promise<T>): Promise<T> {
  const { io, isJson } = context
  const isDrawn = io.stderr.isTty && !isJson
  let told = ''
  const ended = await pollUntil(first, {
    ask,
    isOver: ({ status }) => status !== 'waiting' && status !== 'running',
    onSeen(seen) {
      const words = wordsOf(seen)
      const phase = seen.progress?.phase ?? seen.status
      if (isDrawn) io.stderr.write(`${CLEAR_LINE}${words}`)
      else if (told !== phase) context.note(words)
      told = phase
    },
    interrupted: io.interrupted,
  }).finally(() => {
    if (isDrawn) io.stderr.write(CLEAR_LINE)
  })
  if (ended.status === 'succeeded') return ended
  throw new CliError('unavailable', ended.reason ?? `It was ${ended.status}.`)
}

const MOST_NAME = 40

function wordsOf({ status, progress }: Transfer): string {
  if (progress === undefined) return clean`${status} …`
  const { phase, tables, table, bytes } = progress
  const at = table === undefined ? '' : clean`, table ${tables}: ${table.slice(0, MOST_NAME)}`
  return clean`${phase}, ${formatSize(bytes)}` + at
}
