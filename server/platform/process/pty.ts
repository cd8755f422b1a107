import { dlopen } from 'bun:ffi'
import { chownSync, closeSync, constants, openSync, readdirSync, readlinkSync, writeSync } from 'node:fs'
import { AppError, messageOf } from '../../../shared/error.ts'

export interface PtyOptions {
  columns: number
  rows: number
  onOutput(bytes: Uint8Array): void
  owner?: { uid: number; gid: number } | undefined
}

export interface Pty {
  readonly descriptor: number
  /** Types into the terminal. Resolves when it has taken all of it, or is closed. */
  write(bytes: Uint8Array): Promise<void>
  resize(columns: number, rows: number): void
  pause(): void
  resume(): void
  settled(): Promise<void>
  close(): void
}

/** @throws AppError `unavailable` when the machine has no terminal to give. */
export function openPty({ columns, rows, onOutput, owner }: PtyOptions): Pty {
  const state = { isClosed: false, lastOutputAt: 0 }
  let typing: Promise<void> = Promise.resolve()
  const data = (_: Bun.Terminal, bytes: Uint8Array) => {
    state.lastOutputAt = performance.now()
    if (!state.isClosed) onOutput(bytes)
  }
  const { terminal, path, master } = makeTerminal({ cols: columns, rows, data })
  if (owner !== undefined) chownSync(path, owner.uid, owner.gid)
  const descriptor = openSync(path, constants.O_RDWR | constants.O_NOCTTY)
  const flow = (action: number) => {
    if (!state.isClosed) tcflow(descriptor, action)
  }
  return {
    descriptor,
    write: (bytes) => {
      typing = typing.then(() => typeIn(master, bytes, state))
      return typing
    },
    resize: (cols, lines) => {
      if (!state.isClosed) terminal.resize(cols, lines)
    },
    pause: () => flow(TCOOFF),
    resume: () => flow(TCOON),
    settled: async () => {
      state.lastOutputAt = performance.now()
      while (!state.isClosed && performance.now() - state.lastOutputAt < SILENCE_MS) await Bun.sleep(SILENCE_MS / 2)
    },
    close: () => {
      if (state.isClosed) return
      state.isClosed = true
      closeSync(descriptor)
      terminal.close()
    },
  }
}

const SILENCE_MS = 20

const RETRY_MS = { first: 1, longest: 50 }

/** The runtime's own write sometimes stops for good once the terminal was full (seen in Bun 1.4.5), so the bytes are written here. */
async function typeIn(master: number, bytes: Uint8Array, state: { readonly isClosed: boolean }): Promise<void> {
  let retryMs = RETRY_MS.first
  for (let at = 0; at < bytes.length && !state.isClosed; ) {
    const count = writeSome(master, bytes.subarray(at))
    if (count === undefined) return
    at += count
    retryMs = count > 0 ? RETRY_MS.first : Math.min(retryMs * 2, RETRY_MS.longest)
    if (at < bytes.length) await Bun.sleep(retryMs)
  }
}

function writeSome(master: number, bytes: Uint8Array): number | undefined {
  try {
    return writeSync(master, bytes)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EAGAIN' ? 0 : undefined
  }
}

const MAKE_ATTEMPTS = 20

interface MadeTerminal {
  terminal: Bun.Terminal
  path: string
  master: number
}

/** The runtime holds the name and descriptors open without telling them. Another thread may have opened one in the same moment. */
function makeTerminal(options: Bun.TerminalOptions): MadeTerminal {
  for (let attempt = 0; attempt < MAKE_ATTEMPTS; attempt++) {
    const before = new Set(openTerminals().map(({ descriptor }) => descriptor))
    const terminal = newTerminal(options)
    const made = openTerminals().filter(({ descriptor }) => !before.has(descriptor))
    const [end, ...others] = made.filter(({ path }) => !isMaster(path))
    const master = made.find(({ path }) => isMaster(path))
    if (end !== undefined && master !== undefined && others.length === 0)
      return { terminal, path: end.path, master: Number(master.descriptor) }
    terminal.close()
  }
  throw new AppError('unavailable', 'Could not find the name of a new terminal: is /proc mounted?')
}

const isMaster = (path: string): boolean => path.endsWith('/ptmx')

function newTerminal(options: Bun.TerminalOptions): Bun.Terminal {
  try {
    return new Bun.Terminal(options)
  } catch (cause) {
    const reason = messageOf(cause)
    throw new AppError('unavailable', `This machine gives no terminal (${reason}): is /dev/pts mounted?`, { cause })
  }
}

function openTerminals(): { descriptor: string; path: string }[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    const path = targetOf(descriptor)
    return /^\/dev\/(pts\/\d+|(pts\/)?ptmx)$/.test(path) ? [{ descriptor, path }] : []
  })
}

function targetOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`)
  } catch {
    return ''
  }
}

/** termios(3): the runtime reads a terminal without end, so programs are made to wait instead. */
const TCOOFF = 0
const TCOON = 1

let libc: ReturnType<typeof openLibc> | undefined

function openLibc() {
  return dlopen('libc.so.6', { tcflow: { args: ['i32', 'i32'], returns: 'i32' } })
}

function tcflow(descriptor: number, action: number): void {
  libc ??= openLibc()
  libc.symbols.tcflow(descriptor, action)
}
