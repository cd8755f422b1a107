import { setTimeout as sleep } from 'node:timers/promises'
import type { Listener } from '../../engines/port/port.ts'
import { judgePorts, type PortVerdict } from './port-verdict.ts'

/** Looks at the ports that an instance listens on for as long as it is not healthy. */
export interface PortWatch {
  expected: number
  isPrivate: boolean
  look(): Promise<Listener[]>
  /** The port that is to be tried from now on. */
  use(port: number, all: readonly number[]): void
  /** Why none of them can be used, or undefined once that is no longer so. */
  misplaced(reason: string | undefined): void
  /** Called every 15 s. */
  stillWaiting(seconds: number, isListening: boolean): void
}

const LOOK_EVERY_MS = 500
/** Many apps open a port for their own ends just before the one they are there for. */
const LOOKS_TO_USE = 6
const LOOKS_TO_REFUSE = 10
const TELL_EVERY_MS = 15_000

/** Returns when the signal aborts. @throws what the looking throws. */
export async function watchPorts(watch: PortWatch, signal: AbortSignal): Promise<void> {
  const beganAt = Date.now()
  let before: PortVerdict = { kind: 'none' }
  let looks = 0
  let toldAt = beganAt
  for (;;) {
    // Most apps are healthy before there is any need to look.
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    const verdict = judgePorts({ listeners: await watch.look(), expected: watch.expected, isPrivate: watch.isPrivate })
    if (signal.aborted) return
    looks = isSame(verdict, before) ? looks + 1 : 1
    if (looks === 1 && before.kind === 'misplaced') watch.misplaced(undefined)
    before = verdict
    act(watch, verdict, looks)
    if (Date.now() - toldAt >= TELL_EVERY_MS) {
      toldAt = Date.now()
      watch.stillWaiting(Math.round((toldAt - beganAt) / 1000), verdict.kind === 'use')
    }
  }
}

function act(watch: PortWatch, verdict: PortVerdict, looks: number): void {
  if (verdict.kind === 'misplaced' && looks === LOOKS_TO_REFUSE) watch.misplaced(verdict.reason)
  if (verdict.kind !== 'use') return
  // What it was told to listen on needs no second look.
  const isDue = verdict.port === watch.expected ? looks === 1 : looks === LOOKS_TO_USE
  if (isDue) watch.use(verdict.port, verdict.all)
}

const isSame = (a: PortVerdict, b: PortVerdict): boolean =>
  a.kind === b.kind &&
  (a.kind !== 'use' || b.kind !== 'use' || a.all.join() === b.all.join()) &&
  (a.kind !== 'misplaced' || b.kind !== 'misplaced' || a.reason === b.reason)
