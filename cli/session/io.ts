import { hostname } from 'node:os'
import { openBrowser } from '../base/browser.ts'
import { type Environment, environment } from '../base/config.ts'
import { Interrupted } from '../base/error.ts'
import { type Question, readLine, readText } from '../terminal/input.ts'
import { type LocalTerminal, processTerminal } from '../terminal/local.ts'

export interface Output {
  write(text: string): void
  isTty: boolean
  columns: number
}

export interface Input {
  isTty: boolean
  text(): Promise<string>
  /** Asks on the terminal for one line; what is typed is not shown when hidden. */
  line(question: Question): Promise<string>
}

/** Everything outside the program that a command touches. Tests give their own. */
export interface Io {
  stdout: Output
  stderr: Output
  stdin: Input
  terminal: LocalTerminal
  env: Environment
  cwd: string
  hostname: string
  now(): number
  interrupted: AbortSignal
  openBrowser(url: string): boolean
}

const DEFAULT_COLUMNS = 80

/** The process's own terminal, environment and signals. */
export function realIo(): Io {
  const env = environment()
  return {
    stdout: outputOf(process.stdout),
    stderr: outputOf(process.stderr),
    stdin: { isTty: process.stdin.isTTY === true, text: readText, line: readLine },
    terminal: processTerminal(),
    env,
    cwd: process.cwd(),
    hostname: hostname(),
    now: Date.now,
    interrupted: interruption(),
    openBrowser: (url) => openBrowser(url, env),
  }
}

function outputOf(stream: NodeJS.WriteStream): Output {
  // The reader of a pipe may leave early, as `head` does: that ends us quietly.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
  return {
    write: (text) => void stream.write(text),
    isTty: stream.isTTY === true,
    get columns() {
      return stream.columns ?? DEFAULT_COLUMNS
    },
  }
}

/** The first Ctrl-C aborts what is under way; the second ends the process where it stands. */
function interruption(): AbortSignal {
  const controller = new AbortController()
  process.once('SIGINT', () => {
    controller.abort(new Interrupted())
    process.once('SIGINT', () => process.exit(130))
  })
  return controller.signal
}
