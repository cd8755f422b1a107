import { type ShellNotice, type ShellRequest, shellCloseCodes } from '../../shared/shell.ts'
import type { Target } from '../api/client.ts'
import { CliError, Interrupted } from '../base/error.ts'
import type { LocalTerminal, TakenTerminal } from '../terminal/local.ts'
import { createEscape } from './escape.ts'
import { createOutgoingInput } from './input.ts'

/** Nothing at all has come for this long, in milliseconds, though the server pings every other second: the connection is dead. */
const SILENCE_MS = 15_000
const LOOK_MS = 1000
/** How much output may be under way, in bytes: enough for 50 MB/s over 20 ms. */
export const OUTPUT_WINDOW_BYTES = 1024 * 1024
const TAKEN_STEP_BYTES = OUTPUT_WINDOW_BYTES / 8
const END_OF_INPUT = Uint8Array.of(4)
const END_OF_INPUT_EVERY_MS = 1000

export type ShellOutcome =
  | { kind: 'exited'; exitCode: number | null; signal: string | null }
  | { kind: 'refused'; status: number | undefined }
  | { kind: 'left' }

interface SessionOptions {
  target: Target
  path: string
  terminal: LocalTerminal
  signal: AbortSignal
}

/** Leaves the terminal as it was. @throws CliError saying why the shell ended before its command did; the signal's reason when aborted. */
export async function runShell({ target, path, terminal, signal }: SessionOptions): Promise<ShellOutcome> {
  const socket = new WebSocket(target.url.replace(/^http/, 'ws') + path, { headers: { ...target.headers } })
  socket.binaryType = 'arraybuffer'
  const outcome = Promise.withResolvers<ShellOutcome>()
  const interrupt = () => outcome.reject(signal.reason instanceof Error ? signal.reason : new Interrupted())
  signal.addEventListener('abort', interrupt)
  const line = openLine(socket, { terminal, outcome, url: target.url })
  try {
    if (signal.aborted) interrupt()
    const result = await outcome.promise
    await line.end({ wasCutOff: result.kind === 'left' })
    return result
  } catch (error) {
    await line.end({ wasCutOff: true })
    throw error
  } finally {
    signal.removeEventListener('abort', interrupt)
    socket.terminate()
  }
}

interface LineOptions {
  terminal: LocalTerminal
  outcome: PromiseWithResolvers<ShellOutcome>
  url: string
}

interface Line {
  end(options: { wasCutOff: boolean }): Promise<void>
}

function openLine(socket: WebSocket, { terminal, outcome, url }: LineOptions): Line {
  const watch = watchConnection(socket, () => outcome.reject(lost(url)))
  let taken: TakenTerminal | undefined
  let eof: Timer | undefined
  const input = createOutgoingInput({
    send: (frame) => void socket.send(frame),
    setWaiting: (isWaiting) => (isWaiting ? taken?.pause() : taken?.resume()),
  })
  const output = createIncomingOutput(
    (bytes) => taken?.show(bytes) ?? Promise.resolve(),
    (bytes) => tell(socket, { type: 'taken', bytes }),
  )
  const findEscape = terminal.isTyped ? createEscape() : undefined
  let exit: ShellOutcome | undefined

  socket.addEventListener('open', () => {
    taken = terminal.take({
      onInput(bytes) {
        const typed = findEscape?.(bytes) ?? { bytes, isLeaving: false }
        if (typed.bytes.length > 0) input.send(typed.bytes)
        if (typed.isLeaving) outcome.resolve({ kind: 'left' })
      },
      // Again and again: the program that took one may be followed by another that wants its own.
      onInputEnd() {
        input.send(END_OF_INPUT)
        eof = setInterval(() => input.send(END_OF_INPUT), END_OF_INPUT_EVERY_MS)
      },
      onResize: (columns, rows) => tell(socket, { type: 'resize', columns, rows }),
    })
  })
  socket.addEventListener('message', ({ data }) => {
    if (data instanceof ArrayBuffer) return output.take(new Uint8Array(data))
    const notice = JSON.parse(String(data)) as ShellNotice
    if (notice.type === 'taken') input.taken(notice.bytes)
    else exit = { kind: 'exited', exitCode: notice.exitCode, signal: notice.signal }
  })
  socket.addEventListener('error', (event) => {
    const status = /status code:? (\d{3})/.exec('message' in event ? String(event.message) : '')?.[1]
    if (taken === undefined) outcome.resolve({ kind: 'refused', status: status === undefined ? undefined : Number(status) })
  })
  socket.addEventListener('close', ({ code, reason }) => {
    if (exit !== undefined) outcome.resolve(exit)
    else if (taken === undefined) outcome.resolve({ kind: 'refused', status: undefined })
    else outcome.reject(closedEarly(url, { code, reason }))
  })
  return {
    async end(options) {
      clearInterval(eof)
      watch.stop()
      if (!options.wasCutOff) await output.shown()
      taken?.restore(options)
    },
  }
}

/** Shows output in order, and tells from time to time how much of it has been shown. */
function createIncomingOutput(show: (bytes: Uint8Array) => Promise<void>, onTaken: (bytes: number) => void) {
  let showing: Promise<void> = Promise.resolve()
  let untoldBytes = 0
  const shown = (count: number) => {
    untoldBytes += count
    if (untoldBytes < TAKEN_STEP_BYTES) return
    onTaken(untoldBytes)
    untoldBytes = 0
  }
  return {
    take(bytes: Uint8Array) {
      showing = showing.then(() => show(bytes)).then(() => shown(bytes.length))
    },
    shown: () => showing,
  }
}

function watchConnection(socket: WebSocket, onSilent: () => void): { stop(): void } {
  let heardAt = performance.now()
  const heard = () => {
    heardAt = performance.now()
  }
  for (const sign of ['open', 'message', 'ping', 'pong']) socket.addEventListener(sign as 'message', heard)
  const timer = setInterval(() => {
    if (performance.now() - heardAt > SILENCE_MS) onSilent()
  }, LOOK_MS)
  return { stop: () => clearInterval(timer) }
}

function tell(socket: WebSocket, request: ShellRequest): void {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(request))
}

const again = 'Open another with the same command.'

const lost = (url: string): CliError =>
  new CliError('unavailable', `The connection to ${url} was lost, and the shell has ended with it.`, { hint: again })

function closedEarly(url: string, { code, reason }: { code: number; reason: string }): CliError {
  if (code === shellCloseCodes.stopping)
    return new CliError('unavailable', 'The server is stopping, and the shell has ended with it.', { hint: again })
  if (code === shellCloseCodes.refused) return new CliError('forbidden', `The shell was ended: ${reason}.`)
  if (code === shellCloseCodes.failed) return new CliError('unavailable', reason)
  return lost(url)
}
