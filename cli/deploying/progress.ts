import { formatSize } from '../base/figures.ts'
import type { Context } from '../session/context.ts'

const BAR_CHARS = 24
/** How often the bar is drawn at most, in milliseconds. */
const REDRAW_MS = 80
const CLEAR_LINE = '\r\u001b[K'

/** Shows how far an upload is: a bar on a terminal, one line where there is none, nothing for scripts. */
export interface Progress {
  add(bytes: number): void
  /** The bytes are sent again from the start. */
  restart(): void
  end(): void
}

export function uploadProgress({ io, isJson }: Pick<Context, 'io' | 'isJson'>, what: { fileCount: number; totalBytes: number }): Progress {
  const files = what.fileCount === 1 ? '1 file' : `${what.fileCount} files`
  const label = `Uploading ${files}, ${formatSize(what.totalBytes)}`
  if (isJson) return { add() {}, restart() {}, end() {} }
  if (!io.stderr.isTty) {
    io.stderr.write(`${label}\n`)
    return { add() {}, restart() {}, end() {} }
  }
  let sentBytes = 0
  let drawnAt = 0
  return {
    add(bytes) {
      sentBytes += bytes
      if (performance.now() - drawnAt < REDRAW_MS) return
      drawnAt = performance.now()
      io.stderr.write(`${CLEAR_LINE}${label} ${progressBar(sentBytes / Math.max(1, what.totalBytes))}`)
    },
    restart() {
      sentBytes = 0
    },
    end: () => io.stderr.write(`${CLEAR_LINE}${label}\n`),
  }
}

/** A bar with its percentage, of a fraction from 0 to 1. */
export function progressBar(fraction: number): string {
  const bounded = Math.min(1, Math.max(0, fraction))
  const full = Math.floor(bounded * BAR_CHARS)
  return `${'█'.repeat(full)}${'░'.repeat(BAR_CHARS - full)} ${Math.floor(bounded * 100)}%`
}
