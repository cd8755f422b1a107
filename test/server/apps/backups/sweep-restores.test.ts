import { existsSync, mkdirSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { materialFolder } from '../../../../server/apps/backups/repository/layout.ts'
import { insertRecovery } from '../../../../server/apps/backups/rows/recovery-store.ts'
import { updateBackupSet } from '../../../../server/apps/backups/rows/set-store.ts'
import { sweepRestores } from '../../../../server/apps/backups/work/sweep-restores.ts'
import { newId } from '../../../../server/platform/id.ts'
import { addBackups } from '../../../support/backups.ts'
import { addDatastore } from '../../../support/datastores.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

it('removes what was laid for databases that are no more, and for drills that are over, and nothing else', async () => {
  const { db, context } = server
  const { id: workspaceId } = db.query<{ id: string }, []>('SELECT id FROM workspaces').get() ?? expect.fail('There is no workspace')
  const [source, recovered] = [
    addDatastore(server, { workspaceId, isSuspended: true }),
    addDatastore(server, { workspaceId, isSuspended: true }),
  ]
  const backupId = addBackups(server, { id: source, workspaceId })
  insertRecovery(db, { datastoreId: recovered, sourceId: source, backupId, target: 'latest', createdAt: 1 })
  updateBackupSet(db, source, { drill: { volumeId: 'vol-1', number: 1, backupId } })
  const kept = [recovered, backupId, `${recovered}.way`, newId('postgresExport')]
  const over = [source, newId('postgres'), newId('keyValue'), newId('backup')]
  const folderOf = (name: string) => materialFolder(context.paths, name)
  for (const name of [...kept, ...over]) mkdirSync(folderOf(name), { recursive: true })
  await sweepRestores(context)
  expect(kept.filter((name) => !existsSync(folderOf(name)))).toEqual([])
  expect(over.filter((name) => existsSync(folderOf(name)))).toEqual([])
})
