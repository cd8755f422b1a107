import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../../cli/program.ts'
import type { Io } from '../../cli/session/io.ts'

export interface Outcome {
  exitCode: number
  stdout: string
  stderr: string
}

export interface TerminalOptions {
  env?: Record<string, string>
  cwd?: string
  stdin?: string
  /** Answers typed at prompts; their presence makes standard input a terminal. */
  typed?: string[]
  isTty?: boolean
  columns?: number
  interrupted?: AbortSignal
  onOutput?: (text: string) => void
}

export const testTime = Date.parse('2026-02-01T12:00:00.000Z')

/** Runs one command line in a terminal made of strings. */
export async function cpctl(argv: string[], options: TerminalOptions = {}): Promise<Outcome & { browsed: string[] }> {
  const outcome = { exitCode: -1, stdout: '', stderr: '', browsed: [] as string[] }
  const typed = [...(options.typed ?? [])]
  const output = (name: 'stdout' | 'stderr') => ({
    write: (text: string) => {
      outcome[name] += text
      options.onOutput?.(text)
    },
    isTty: options.isTty === true,
    columns: options.columns ?? 80,
  })
  const io: Io = {
    stdout: output('stdout'),
    stderr: output('stderr'),
    stdin: {
      isTty: options.typed !== undefined,
      text: async () => options.stdin ?? '',
      line: async ({ text }) => {
        outcome.stderr += `${text} `
        return typed.shift() ?? ''
      },
    },
    terminal: pipeTerminal(options.stdin ?? '', (text) => {
      outcome.stdout += text
    }),
    env: { HOME: '/nonexistent', ...options.env },
    cwd: options.cwd ?? '/nonexistent/web',
    hostname: 'laptop',
    now: () => testTime,
    interrupted: options.interrupted ?? new AbortController().signal,
    openBrowser: (url) => {
      outcome.browsed.push(url)
      return options.env?.DISPLAY !== undefined
    },
  }
  outcome.exitCode = await run(argv, io)
  return outcome
}

/** Pipes in place of a terminal: everything is there at once, and ends. */
function pipeTerminal(stdin: string, onText: (text: string) => void): Io['terminal'] {
  const decoder = new TextDecoder()
  return {
    isTyped: false,
    size: () => ({ columns: 80, rows: 24 }),
    take(events) {
      events.onInput(new TextEncoder().encode(stdin))
      events.onInputEnd()
      return {
        show: async (bytes) => onText(decoder.decode(bytes, { stream: true })),
        pause() {},
        resume() {},
        restore() {},
      }
    },
  }
}

export async function temporaryFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'cpctl-test-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}
