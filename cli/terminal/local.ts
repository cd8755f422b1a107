import { defaultShellSize } from '../../shared/shell.ts'
import { exitCodeOf } from '../base/error.ts'

export interface LocalEvents {
  onInput(bytes: Uint8Array): void
  onInputEnd(): void
  onResize(columns: number, rows: number): void
}

/** The terminal, given over to a program elsewhere. */
export interface TakenTerminal {
  /** Resolves when the bytes have been shown, or are in the pipe. */
  show(bytes: Uint8Array): Promise<void>
  pause(): void
  resume(): void
  /** Gives it back as it was; `wasCutOff` where the program could not leave it as it found it. Idempotent. */
  restore(options: { wasCutOff: boolean }): void
}

/** The terminal this process stands in, or the pipes in its place. */
export interface LocalTerminal {
  isTyped: boolean
  size(): { columns: number; rows: number }
  take(events: LocalEvents): TakenTerminal
}

/** Off: the other screen, mouse reports and bracketed paste; on: the cursor; plain letters (see xterm's control sequences). */
const PLAIN_AGAIN = '\u001b[?1049l\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?1006l\u001b[?2004l\u001b[?25h\u001b[0m'

const endingSignals = ['SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

export function processTerminal(): LocalTerminal {
  const { stdin, stdout } = process
  const size = () => ({ columns: stdout.columns || defaultShellSize.columns, rows: stdout.rows || defaultShellSize.rows })
  return { isTyped: stdin.isTTY === true, size, take: (events) => takeTerminal(events, size) }
}

function takeTerminal(events: LocalEvents, size: LocalTerminal['size']): TakenTerminal {
  const { stdin, stdout } = process
  const isTyped = stdin.isTTY === true
  let isRestored = false
  const onResize = () => events.onResize(size().columns, size().rows)
  const restore = ({ wasCutOff }: { wasCutOff: boolean }) => {
    if (isRestored) return
    isRestored = true
    stdin.off('data', events.onInput).off('end', events.onInputEnd).pause()
    stdout.off('resize', onResize)
    process.off('exit', onExit)
    for (const signal of endingSignals) process.off(signal, onSignal)
    if (isTyped) stdin.setRawMode(false)
    if (wasCutOff && stdout.isTTY) stdout.write(PLAIN_AGAIN)
  }
  const onExit = () => restore({ wasCutOff: true })
  const onSignal = (signal: NodeJS.Signals) => {
    restore({ wasCutOff: true })
    process.exit(exitCodeOf(signal))
  }
  process.on('exit', onExit)
  for (const signal of endingSignals) process.on(signal, onSignal)
  if (isTyped) stdin.setRawMode(true)
  stdin.on('data', events.onInput).on('end', events.onInputEnd).resume()
  stdout.on('resize', onResize)
  return {
    show: (bytes) => new Promise((resolve) => void stdout.write(bytes, () => resolve())),
    pause: () => void stdin.pause(),
    resume: () => void stdin.resume(),
    restore,
  }
}
