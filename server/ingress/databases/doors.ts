import type { ReportedCount } from '../limits/reported-count.ts'
import type { Reception } from '../serve/transport.ts'
import type { ProxyTarget } from '../tables/proxy-target.ts'
import type { Certificates } from '../tls/certificates.ts'
import type { Directory } from './directory.ts'
import type { Naming } from './naming.ts'
import { Relay, type SessionWatch } from './relay.ts'

/** What the ports of all kinds of databases have in common. */
export interface DoorParts {
  directory: Directory
  certificates: Certificates
  failures: ReportedCount
}

export interface Session {
  id: string
  target: ProxyTarget
  first: Buffer
  watch: SessionWatch
  unreachable(): Buffer
  gone?(): void
}

export function beginSession(
  naming: Naming,
  session: Session,
  { directory, reception }: { directory: Directory; reception: Reception },
): void {
  const { context } = reception
  naming.enter(() => {
    const relay: Relay = new Relay(naming.socket, {
      ...session,
      context,
      gone() {
        directory.remove(relay)
        session.gone?.()
        context.left(relay)
      },
    })
    directory.add(relay)
    return relay
  })
}
