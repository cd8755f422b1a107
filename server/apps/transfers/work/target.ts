import { mkdirSync } from 'node:fs'
import { connect } from 'node:net'
import { describeError } from '../../../platform/server-log.ts'
import type { AppContext } from '../../context.ts'
import type { ServerEndpoint } from '../../datastores/kind.ts'
import { answered } from '../../postgres/session.ts'
import type { StoredPostgres } from '../../postgres/store.ts'
import type { StoredTransfer } from '../rows/store.ts'
import { openRelay } from '../tools/relay.ts'
import { endRole, makeRole } from '../tools/roles.ts'

export interface Place {
  own: StoredPostgres
  endpoint: ServerEndpoint
  version: string
  sizeGb: number
}

export interface Target {
  bytes(): number
  /** Takes the way in away, and the role. Returns in every case; what could not be taken away is before the next transfer. */
  end(): Promise<void>
}

interface Opening {
  place: Place
  transfer: StoredTransfer
  folder: string
  password: string
}

/** Lets tools in to a database, as a role of their own. @throws AppError unavailable where the server does not answer. */
export async function openTarget(context: AppContext, { place, transfer, folder, password }: Opening): Promise<Target> {
  const { own, endpoint } = place
  const role = { kind: transfer.kind, own, endpoint }
  await answered(context, own.id, () => makeRole(context, role, password))
  mkdirSync(folder, { recursive: true, mode: 0o711 })
  const relay = await openRelay(folder, { uid: transfer.number, open: async () => connect(endpoint.port, endpoint.host) })
  return {
    bytes: relay.bytes,
    async end() {
      relay.close()
      await endRole(context, role).catch((error) => {
        if (!context.stopping.aborted) context.log.error('role of a transfer not ended', { datastoreId: own.id, ...describeError(error) })
      })
    },
  }
}
