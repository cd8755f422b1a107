import { ownSocketPath, ownSocketPaths } from '../control/names.ts'
import { controlPaths } from '../control/protocol.ts'
import { callSocket } from '../control/socket-call.ts'
import { Directory } from '../databases/directory.ts'
import { createRefusals, type DoorParts, type Note } from '../databases/doors.ts'
import { type LoginLimits, Logins } from '../databases/logins.ts'
import { keyValueTransport } from '../key-value/door.ts'
import type { IngressLimits } from '../limits/limits.ts'
import { createReportedCount } from '../limits/reported-count.ts'
import { cancelAt } from '../postgres/cancel.ts'
import { CancelKeys } from '../postgres/cancel-keys.ts'
import { postgresTransport } from '../postgres/door.ts'
import type { CancelKey } from '../postgres/first-packet.ts'
import type { Door } from '../serve/listeners.ts'
import type { Certificates } from '../tls/certificates.ts'

interface Address {
  host: string
  port: number
}

export interface DatabaseOptions {
  postgres?: Address
  keyValue?: { listen: Address; host: string }
}

export interface DatabaseSide {
  directory: Directory
  doors: Door[]
  /** Cancels where the key is that of a connection through this process; whether it is. */
  cancel(key: CancelKey): Promise<boolean>
  stop(): void
}

export interface DatabaseSideParts {
  options: DatabaseOptions
  controlSocketPath: string
  certificates: Certificates
  limits: Pick<IngressLimits, 'connectTimeoutMs'> & LoginLimits
  noted: Note
  log: (line: string) => void
}

/** Requests to cancel that others are asked about at a time: anybody may send some. */
const MAX_ASKED = 8
const ASK_TIMEOUT_MS = 2_000

export function createDatabaseSide({ options, controlSocketPath, certificates, limits, noted, log }: DatabaseSideParts): DatabaseSide {
  const directory = new Directory()
  const keys = new CancelKeys()
  const failures = createReportedCount((count, reason) =>
    log(`${count} connections to databases came to nothing, the first one because of: ${reason}`),
  )
  let asked = 0

  async function cancel(key: CancelKey): Promise<boolean> {
    const target = keys.targetOf(key)
    if (target !== undefined) await cancelAt(target, key, limits.connectTimeoutMs)
    return target !== undefined
  }

  /** During a hand-over the connection may be one of a predecessor, or of a successor that does not serve yet. */
  async function cancelSomewhere(key: CancelKey): Promise<void> {
    if ((await cancel(key)) || asked >= MAX_ASKED) return
    asked++
    const body = { processId: key.processId, secret: key.secret.toString('base64') }
    const ask = (socketPath: string) =>
      callSocket({ socketPath, publisher: '', method: 'POST', path: controlPaths.cancellations, body, timeoutMs: ASK_TIMEOUT_MS })
    const own = ownSocketPath(controlSocketPath, process.pid)
    const others = ownSocketPaths(controlSocketPath).filter((path) => path !== own)
    await Promise.allSettled(others.map(ask))
    asked--
  }

  const parts: DoorParts = { directory, logins: new Logins(limits), certificates, failures, noted, refused: createRefusals(noted) }
  const { postgres, keyValue } = options
  return {
    directory,
    doors: [
      ...(postgres === undefined
        ? []
        : [{ name: 'postgres' as const, listen: postgres, transport: postgresTransport({ ...parts, keys, cancel: cancelSomewhere }) }]),
      ...(keyValue === undefined
        ? []
        : [{ name: 'key_value' as const, listen: keyValue.listen, transport: keyValueTransport({ ...parts, host: keyValue.host }) }]),
    ],
    cancel,
    stop: () => failures.stop(),
  }
}
