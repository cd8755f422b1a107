import { AppError } from '../../../../shared/error.ts'
import type { postgresTransferOperations } from '../../../../shared/operations/postgres-transfers.ts'
import { answer, type Handlers } from '../../../http/handlers/call.ts'
import { requirePlace } from '../../../identity/quotas/enforce.ts'
import type { AppContext } from '../../context.ts'
import { requireDatastore } from '../../datastores/require.ts'
import { downloadOf } from './download.ts'
import {
  cancelTransfer,
  refuseBusy,
  removeTransfer,
  requestExport,
  requestImport,
  requireTransfer,
  requireTransfers,
} from './operations.ts'
import { presentExport, presentImport } from './present.ts'
import { takeDump } from './upload.ts'

const ofExport = ({ postgresId, exportId }: { postgresId: string; exportId: string }) =>
  ({ id: postgresId, kind: 'export', transferId: exportId }) as const
const ofImport = ({ postgresId, importId }: { postgresId: string; importId: string }) =>
  ({ id: postgresId, kind: 'import', transferId: importId }) as const

export const transferRoutes: Handlers<keyof typeof postgresTransferOperations, AppContext> = {
  async listPostgresExports({ actor, params }, context) {
    const found = requireTransfers(context, actor, { id: params.postgresId, kind: 'export' })
    return Promise.all(found.map(async (one) => presentExport(one, context.publicUrl, await context.work.transferProgress(one.id))))
  },
  createPostgresExport({ actor, params }, context) {
    const made = requestExport(context, requireDatastore(context, actor, params.postgresId, 'postgres'))
    return answer(202, presentExport(made, context.publicUrl))
  },
  deletePostgresExport({ actor, params }, context) {
    removeTransfer(context, requireTransfer(context, actor, ofExport(params)))
    return answer(204, undefined)
  },
  downloadPostgresExport({ actor, params, request, change, note }, context) {
    const file = downloadOf(context.paths, requireTransfer(context, actor, ofExport(params)), request.headers)
    note({ metadata: { exportId: params.exportId } })
    return change(() => file)
  },
  async listPostgresImports({ actor, params }, context) {
    const found = requireTransfers(context, actor, { id: params.postgresId, kind: 'import' })
    return Promise.all(found.map(async (one) => presentImport(one, await context.work.transferProgress(one.id))))
  },
  startPostgresImport({ actor, params, body }, context) {
    const datastore = requireDatastore(context, actor, params.postgresId, 'postgres')
    return answer(202, presentImport(requestImport(context, datastore, body)))
  },
  async uploadPostgresDump({ actor, params, query, request, signal, change, note }, context) {
    const datastore = requireDatastore(context, actor, params.postgresId, 'postgres')
    if (request.body === null) throw new AppError('bad_request', 'The body is empty. Send the file that pg_dump made.')
    refuseBusy(context, datastore)
    requirePlace(context, datastore.workspaceId, 'uploads')
    const leave = context.uploads.take(datastore.workspaceId)
    const length = request.headers.get('content-length')
    const taken = await takeDump(context, {
      datastore,
      body: request.body,
      expectedBytes: length === null ? undefined : Number(length),
      isClean: query.clean === 'true',
      signal,
      change: (apply) =>
        change(() => {
          requireDatastore(context, actor, datastore.id, 'postgres')
          const made = apply()
          note({ metadata: { importId: made.id } })
          return made
        }),
    }).finally(leave)
    return answer(202, presentImport(taken))
  },
  async getPostgresImport({ actor, params }, context) {
    const found = requireTransfer(context, actor, ofImport(params))
    return presentImport(found, await context.work.transferProgress(found.id))
  },
  cancelPostgresImport: ({ actor, params }, context) =>
    answer(202, presentImport(cancelTransfer(context, requireTransfer(context, actor, ofImport(params))))),
}
