import type { Listener } from '../../engines/port/port.ts'
import { type Clock, pause } from '../../platform/work/clock.ts'
import { judgePorts, type PortVerdict } from './port-verdict.ts'

export interface PortWatch {
  clock: Clock
  expected: number
  isPrivate: boolean
  scan(): Promise<Listener[]>
  use(port: number, all: readonly number[]): void
  misplaced(reason: string | undefined): void
  stillWaiting(seconds: number, isListening: boolean): void
}

const SCAN_EVERY_MS = 500
/** Many apps open a port for their own ends just before the one they are there for. */
const SCANS_TO_USE = 6
const SCANS_TO_REFUSE = 10
const REPORT_EVERY_MS = 15_000

export async function watchPorts(watch: PortWatch, signal: AbortSignal): Promise<void> {
  const { clock } = watch
  const beganAt = clock.now()
  let before: PortVerdict = { kind: 'none' }
  let scans = 0
  let reportedAt = beganAt
  for (;;) {
    // Most apps are healthy before there is any need to look.
    await pause(clock, SCAN_EVERY_MS, signal).catch(() => {})
    if (signal.aborted) return
    const verdict = judgePorts({ listeners: await watch.scan(), expected: watch.expected, isPrivate: watch.isPrivate })
    if (signal.aborted) return
    scans = isSame(verdict, before) ? scans + 1 : 1
    if (scans === 1 && before.kind === 'misplaced') watch.misplaced(undefined)
    before = verdict
    act(watch, verdict, scans)
    if (clock.now() - reportedAt >= REPORT_EVERY_MS) {
      reportedAt = clock.now()
      watch.stillWaiting(Math.round((reportedAt - beganAt) / 1000), verdict.kind === 'use')
    }
  }
}

function act(watch: PortWatch, verdict: PortVerdict, scans: number): void {
  if (verdict.kind === 'misplaced' && scans === SCANS_TO_REFUSE) watch.misplaced(verdict.reason)
  if (verdict.kind !== 'use') return
  const isDue = verdict.port === watch.expected ? scans === 1 : scans === SCANS_TO_USE
  if (isDue) watch.use(verdict.port, verdict.all)
}

const isSame = (a: PortVerdict, b: PortVerdict): boolean =>
  a.kind === b.kind &&
  (a.kind !== 'use' || b.kind !== 'use' || a.all.join() === b.all.join()) &&
  (a.kind !== 'misplaced' || b.kind !== 'misplaced' || a.reason === b.reason)
