import { AppError, messageOf } from '../../../shared/error.ts'
import { isStartedAs, processAgeMs, processesOf, processStart } from '../../platform/process/process-start.ts'
import { createIngressClient, type IngressClient } from '../control/client.ts'
import { ownSocketPath } from '../control/names.ts'
import type { IngressStatus } from '../control/protocol.ts'
import { startIngressProcess } from './start-process.ts'

export interface IngressStart {
  /** Argument array that runs `cpd ingress`; a running one that was started otherwise is replaced. */
  command: readonly string[]
  controlSocketPath: string
  outputPath: string
  listen: { host: string; port: number }
  listenTls?: { host: string; port: number }
  version: string
  log: (message: string) => void
  env?: Record<string, string>
}

const END_TIMEOUT_MS = 5_000
/** An ingress that has run for longer than this does not answer because it has just been started. */
const YOUNG_MS = 10_000
const START_POLL_MS = 50
const POLL_MS = 10

/**
 * Sees to it that the wanted ingress runs: takes over a running one, has one of another version, address or command line start the
 * wanted one in its place, or starts it as a process of its own that outlives us.
 *
 * @throws AppError `unavailable` with the ingress's own last words when it does not start; one that ran before goes on.
 */
export async function ensureIngress(start: IngressStart): Promise<IngressClient> {
  const client = createIngressClient(start.controlSocketPath)
  const running = await statusOf(client)
  if (running !== undefined) {
    if (isWanted(running, start)) return client
    start.log(`Replacing the ingress of version ${running.version} at ${running.listen.host}:${running.listen.port}`)
    if (await isHandedOver(client, running, start)) return client
    await endRunning(client, running)
  }
  if (await comesToServe(client, start)) return client
  try {
    await startNew(client, start)
  } catch (error) {
    if (!killUnreachable(start.command)) throw error
    await startNew(client, start)
  }
  return client
}

function isWanted({ pid, version, listen, listenTls }: IngressStatus, start: IngressStart): boolean {
  return version === start.version && isAt(listen, start.listen) && isAt(listenTls, start.listenTls) && wasStartedSo(pid, start.command)
}

type Address = IngressStart['listen']

function isAt(actual: Address | undefined, wanted: Address | undefined): boolean {
  if (actual === undefined || wanted === undefined) return actual === wanted
  return actual.host === wanted.host && (wanted.port === 0 || actual.port === wanted.port)
}

const wasStartedSo = (pid: number, command: readonly string[]): boolean => isStartedAs(pid, command) !== false

async function isHandedOver(client: IngressClient, running: IngressStatus, start: IngressStart): Promise<boolean> {
  try {
    await client.handOver({ command: [...start.command], env: start.env ?? {}, outputPath: start.outputPath })
    return true
  } catch (error) {
    // An older build does not know how.
    if (error instanceof AppError && error.code === 'not_found') return false
    if (await comesToServe(client, start)) return true
    if (processStart(running.pid) !== undefined) throw error
    return false
  }
}

/** Whether the wanted one serves, or is about to: its predecessor, or who asked for it, may have died when it was just started. */
async function comesToServe(client: IngressClient, start: IngressStart): Promise<boolean> {
  for (;;) {
    const isLast = !(await isOneUnderWay(start))
    const status = await statusOf(client)
    if (status !== undefined && isWanted(status, start)) return true
    if (isLast) return false
    await Bun.sleep(START_POLL_MS)
  }
}

async function isOneUnderWay({ command, controlSocketPath }: IngressStart): Promise<boolean> {
  const young = processesOf(command).filter((pid) => (processAgeMs(pid) ?? YOUNG_MS) < YOUNG_MS)
  const known = await Promise.all(young.map((pid) => statusOf(createIngressClient(ownSocketPath(controlSocketPath, pid)))))
  return known.some((status) => status?.isSucceeded !== true)
}

async function endRunning(client: IngressClient, { pid }: IngressStatus): Promise<void> {
  const startedAt = processStart(pid)
  await client.shutdown().catch(() => undefined)
  // The ingress gives up its address and its control socket at once; requests in flight end behind our back.
  const hasLetGo = await until(async () => (await statusOf(client)) === undefined, END_TIMEOUT_MS)
  if (!hasLetGo) killProcess(pid, startedAt)
}

/**
 * Kills an ingress of ours that serves but cannot be talked to: it hangs, or its control socket was removed. One that was asked to end
 * and still answers its last requests is not in the way of a start, so this is for starts that have failed.
 */
function killUnreachable(command: readonly string[]): boolean {
  const pids = processesOf(command)
  for (const pid of pids) killProcess(pid, processStart(pid))
  return pids.length > 0
}

const startNew = (client: IngressClient, { command, env = {}, outputPath }: IngressStart): Promise<void> =>
  startIngressProcess({ client, command: [...command], env, outputPath })

async function statusOf(client: IngressClient): Promise<IngressStatus | undefined> {
  return client.status().catch(() => undefined)
}

function killProcess(pid: number, startedAt: string | undefined): void {
  if (startedAt === undefined || processStart(pid) !== startedAt) return
  try {
    process.kill(pid, 'SIGKILL')
  } catch {}
}

async function until(isSo: () => Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  while (performance.now() < deadline) {
    if (await isSo()) return true
    await Bun.sleep(POLL_MS)
  }
  return false
}

export interface WatchTimings {
  askEveryMs: number
  askTimeoutMs: number
  /** An ingress that has run this long did not fail at its start: when it ends, the next one is started at once. */
  stableMs: number
}

const defaultWatchTimings: WatchTimings = { askEveryMs: 2_000, askTimeoutMs: 5_000, stableMs: 1_000 }
const CHECK_EVERY_MS = 100
const SILENT_ASKS = 3
const FIRST_DELAY_MS = 100
const LONGEST_DELAY_MS = 10_000

export interface WatchedIngress extends IngressStart {
  signal: AbortSignal
  timings?: Partial<WatchTimings>
  onRestarted?: () => void
}

/** Keeps the wanted ingress running until aborted: restarts a dead one, kills a hung one, and backs off between failed starts. Never rejects. */
export async function watchIngress(start: WatchedIngress): Promise<void> {
  const { signal, log } = start
  const timings = { ...defaultWatchTimings, ...start.timings }
  const client = createIngressClient(start.controlSocketPath)
  for (let failures = 0; !signal.aborted; ) {
    const ranMs = await watchOne(client, signal, timings)
    if (signal.aborted) return
    const now = await statusOf(client)
    if (now !== undefined && isWanted(now, start)) continue
    failures = ranMs >= timings.stableMs ? 0 : failures
    try {
      await ensureIngress(start)
      log('The ingress had ended and was started anew')
      start.onRestarted?.()
    } catch (error) {
      log(messageOf(error))
    }
    await pause(Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** failures++), signal)
  }
}

/** Returns when this ingress has ended, was killed for its silence, or has left its name to another; how long that took, in milliseconds. */
async function watchOne(client: IngressClient, signal: AbortSignal, timings: WatchTimings): Promise<number> {
  const status = await statusOf(client)
  if (status === undefined) return 0
  const startedAt = processStart(status.pid)
  const since = performance.now()
  let askedAt = since
  let silentAsks = 0
  while (!signal.aborted && startedAt !== undefined && processStart(status.pid) === startedAt) {
    await pause(CHECK_EVERY_MS, signal)
    if (performance.now() - askedAt < timings.askEveryMs) continue
    const answer = await Promise.race([statusOf(client), pause(timings.askTimeoutMs, signal)])
    if (answer !== undefined && answer.pid !== status.pid) break
    silentAsks = answer === undefined ? silentAsks + 1 : 0
    askedAt = performance.now()
    if (silentAsks === SILENT_ASKS) killProcess(status.pid, startedAt)
  }
  return performance.now() - since
}

async function pause(ms: number, signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return undefined
  const { promise, resolve } = Promise.withResolvers<void>()
  const end = () => resolve()
  const timer = setTimeout(end, ms)
  signal.addEventListener('abort', end, { once: true })
  await promise
  clearTimeout(timer)
  signal.removeEventListener('abort', end)
  return undefined
}
