import { messageOf } from '../../shared/error.ts'
import type { ServiceUsage } from '../../shared/metrics.ts'
import type { LocalTerminal } from '../terminal/local.ts'
import type { Paint } from '../terminal/paint.ts'
import { cleanText } from '../terminal/text.ts'
import { topTable } from './top-table.ts'

export interface TopScreen {
  terminal: LocalTerminal
  paint: Paint
  everyMs: number
  now(): number
}

/** The other screen without a cursor; whoever restores the terminal leaves it. */
const OPEN = '\u001b[?1049h\u001b[?25l'
const HOME = '\u001b[H'
const CLEAR_LINE = '\u001b[K'
const CLEAR_BELOW = '\u001b[J'
const leavingKeys = new Set(['q', 'Q', '\u0003', '\u0004'])
/** Lines that are no service: heading, its blank line, titles, and what is left out. */
const OTHER_LINES = 4

/** Shows the table over the whole screen until a key leaves it. A server that does not answer is told of and asked again. */
export async function showTop({ terminal, paint, everyMs, now }: TopScreen, ask: () => Promise<ServiceUsage[]>): Promise<void> {
  const left = Promise.withResolvers<void>()
  let isOver = false
  let rows: ServiceUsage[] = []
  let trouble = ''
  let askedAtMs = now()
  const draw = () => void taken.show(new TextEncoder().encode(frame({ rows, trouble, askedAtMs, paint, size: terminal.size() })))
  const taken = terminal.take({
    onInput: (bytes) => {
      const keys = new TextDecoder().decode(bytes)
      // Alone it is the key; arrows and others begin with it.
      if (keys === '\u001b' || [...keys].some((key) => leavingKeys.has(key))) left.resolve()
    },
    onInputEnd: () => left.resolve(),
    onResize: draw,
  })
  const leaving = left.promise.then(() => {
    isOver = true
  })
  try {
    await taken.show(new TextEncoder().encode(OPEN))
    while (!isOver) {
      try {
        rows = await Promise.race([ask(), leaving.then(() => rows)])
        trouble = ''
      } catch (error) {
        trouble = messageOf(error)
      }
      askedAtMs = now()
      if (!isOver) draw()
      await pauseUnless(leaving, everyMs)
    }
  } finally {
    taken.restore({ wasCutOff: true })
  }
}

async function pauseUnless(leaving: Promise<void>, ms: number): Promise<void> {
  const pause = Promise.withResolvers<void>()
  const timer = setTimeout(pause.resolve, ms)
  await Promise.race([pause.promise, leaving])
  clearTimeout(timer)
}

interface Frame {
  rows: readonly ServiceUsage[]
  trouble: string
  askedAtMs: number
  paint: Paint
  size: { columns: number; rows: number }
}

/** Written over the one before, line by line, so that nothing flickers. */
function frame({ rows, trouble, askedAtMs, paint, size }: Frame): string {
  const time = new Date(askedAtMs - new Date(askedAtMs).getTimezoneOffset() * 60_000).toISOString().slice(11, 19)
  const room = Math.max(1, size.rows - OTHER_LINES)
  const table = topTable(rows.slice(0, room), { paint, width: size.columns }).trimEnd().split('\n')
  const more = rows.length > room ? [paint.dim(`… and ${rows.length - room} more`)] : []
  const remark = trouble === '' ? paint.dim('q leaves') : paint.red(cleanText(trouble).slice(0, Math.max(0, size.columns - 12)))
  const lines = [`${time}  ${remark}`, '', ...table, ...more]
  return HOME + lines.map((line) => `${line}${CLEAR_LINE}`).join('\r\n') + CLEAR_BELOW
}
