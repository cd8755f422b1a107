import type { ReportedCount } from '../limits/reported-count.ts'
import type { Reception } from '../serve/transport.ts'
import type { ProxyTarget } from '../tables/proxy-target.ts'
import type { Certificates } from '../tls/certificates.ts'
import type { ConnectionRecord } from '../traffic/connection-record.ts'
import type { Directory } from './directory.ts'
import type { Logins } from './logins.ts'
import type { Naming } from './naming.ts'
import { Relay, type SessionWatch } from './relay.ts'

export interface DoorParts {
  directory: Directory
  logins: Logins
  certificates: Certificates
  failures: ReportedCount
  noted: Note
  refused(id: string, address: string, why: string): void
}

export type Note = (connection: Omit<ConnectionRecord, 'at'>) => void

export interface Session {
  id: string
  target: ProxyTarget
  first: Buffer
  watch: SessionWatch
  about: string
  unreachable(): Buffer
  gone?(): void
}

type Begun = Pick<DoorParts, 'directory' | 'logins' | 'noted'> & { reception: Reception }

export function beginSession(naming: Naming, session: Session, { directory, logins, noted, reception }: Begun): void {
  const { context } = reception
  naming.enter(() => {
    const relay: Relay = new Relay(naming.socket, {
      ...session,
      logins,
      context,
      gone() {
        directory.remove(relay)
        session.gone?.()
        noted({ ...recordOf(relay, session), event: 'closed' })
        context.left(relay)
      },
    })
    directory.add(relay)
    noted({ ...recordOf(relay, session), event: 'opened' })
    return relay
  })
}

const recordOf = ({ id, target, address, startedAt, receivedBytes, sentBytes }: Relay, { about }: Session) => ({
  ...{ id, instanceId: target.instanceId, address, about, receivedBytes, sentBytes },
  durationMs: performance.now() - startedAt,
})

const REFUSALS_EVERY_MS = 1000

/** Notes who was refused, once a second for each database: strangers knock as often as they like. */
export function createRefusals(noted: Note): DoorParts['refused'] {
  const notedAt = new Map<string, number>()
  return (id, address, why) => {
    const now = performance.now()
    if (now - (notedAt.get(id) ?? Number.NEGATIVE_INFINITY) < REFUSALS_EVERY_MS) return
    notedAt.set(id, now)
    noted({ id, instanceId: '', event: 'refused', address, about: why, durationMs: 0, receivedBytes: 0, sentBytes: 0 })
  }
}
