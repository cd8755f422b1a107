import { dlopen } from 'bun:ffi'
import { chownSync, closeSync, constants, openSync, readdirSync, readlinkSync, writeSync } from 'node:fs'
import { AppError, messageOf } from '../../../shared/error.ts'
import { type EndMark, makeEndMark } from './end-mark.ts'

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
  /** Resolves when all that was written before has been told, at the latest seconds later. What waits is let go on. */
  settled(): Promise<void>
  close(): void
}

/** @throws AppError `unavailable` when the machine has no terminal to give. */
export function openPty({ columns, rows, onOutput, owner }: PtyOptions): Pty {
  const state = { isClosed: false, lastOutputAt: 0 }
  let typing: Promise<void> = Promise.resolve()
  const closed = Promise.withResolvers<void>()
  let mark: EndMark | undefined
  const tell = (bytes: Uint8Array) => {
    if (!state.isClosed && bytes.length > 0) onOutput(bytes)
  }
  const data = (_: Bun.Terminal, bytes: Uint8Array) => {
    state.lastOutputAt = performance.now()
    tell(mark === undefined ? bytes : mark.take(bytes))
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
      mark = makeEndMark()
      if (await passes(mark, path, closed.promise)) return
      state.lastOutputAt = performance.now()
      while (!state.isClosed && performance.now() - state.lastOutputAt < SILENCE_MS) await Bun.sleep(SILENCE_MS / 2)
      tell(mark.rest())
    },
    close: () => {
      if (state.isClosed) return
      state.isClosed = true
      closed.resolve()
      closeSync(descriptor)
      terminal.close()
    },
  }
}

const SILENCE_MS = 20

/** A program can throw the mark away with what nobody has read (TCOFLUSH), or keep others from the terminal (TIOCEXCL). */
const MARK_DEADLINE_MS = 2000

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

/** Whether the mark came out behind all output. The terminal is opened anew, for a session that ends hangs up what was open. */
async function passes(mark: EndMark, path: string, closed: Promise<void>): Promise<boolean> {
  const descriptor = openQuietly(path)
  if (descriptor === undefined) return false
  const writing = { isClosed: false }
  const { promise: late, resolve } = Promise.withResolvers<boolean>()
  const deadline = setTimeout(resolve, MARK_DEADLINE_MS, false)
  try {
    // A start alone does not undo what Ctrl-S has stopped: it undoes stops like the one before it.
    for (const action of [TCOOFF, TCOON]) tcflow(descriptor, action)
    void typeIn(descriptor, mark.bytes, writing)
    return await Promise.race([mark.seen.then(() => true), closed.then(() => true), late])
  } finally {
    clearTimeout(deadline)
    writing.isClosed = true
    closeSync(descriptor)
  }
}

function openQuietly(path: string): number | undefined {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_NOCTTY | constants.O_NONBLOCK)
  } catch {
    return undefined
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
