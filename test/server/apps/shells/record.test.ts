import { afterAll, beforeAll, expect, test } from 'vitest'
import { serviceById } from '../../../../server/apps/services/store.ts'
import { type RecordedShell, recordClosed, recordLost, recordOpened } from '../../../../server/apps/shells/record.ts'
import { workloadById } from '../../../../server/runtime/workloads/store.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { makeService } from '../../../support/service.ts'

const KEPT_EVENTS = 10_000

let platform: Platform
let shell: RecordedShell
beforeAll(async () => {
  platform = await startPlatform()
  const { id } = await makeService(platform, { name: 'web' })
  const service = serviceById(platform.db, id)
  if (service === undefined) throw new Error('There is no service')
  shell = { shellId: 'first', service, actor: { type: 'user', id: 'usr-1', name: 'Ada' }, instanceId: undefined }
})
afterAll(() => platform.close())

const eventsOf = (type: string) =>
  platform.db
    .query<{ details: string }, [string]>('SELECT details FROM events WHERE type = ? ORDER BY seq')
    .all(type)
    .map(({ details }) => JSON.parse(details) as Record<string, unknown>)

const end = { end: { exitCode: 0, signal: null }, openedAt: Date.now() }

/** A script that opens shells all day leaves as many. */
function openAndClose(count: number): void {
  platform.db.transaction(() => {
    for (let index = 0; index < count; index++) recordOpened(platform.context, { ...shell, shellId: `shell-${index}` })
  })()
  platform.db.run(
    `INSERT INTO events (id, workspace_id, service_id, type, details, created_at)
     SELECT id || 'x', workspace_id, service_id, 'shell_closed', details, created_at FROM events WHERE type = 'shell_opened'`,
  )
  platform.db.run("DELETE FROM workloads WHERE purpose = 'shell'")
}

test('the end of a shell that was lost is written down once, however many there were before', () => {
  openAndClose(KEPT_EVENTS - 100)
  recordOpened(platform.context, { ...shell, shellId: 'lost' })
  for (let start = 0; start < 2; start++) recordLost(platform.context)
  const lost = eventsOf('shell_closed').filter(({ reason }) => reason === 'The control plane ended')
  expect(lost.map(({ shellId }) => shellId)).toEqual(['lost'])
})

test('of a service that shells are opened in again and again the latest events are kept', () => {
  // Events that webhooks and notifications have not come to are kept for them.
  platform.db.run('UPDATE event_readers SET seq = (SELECT max(seq) FROM events)')
  recordOpened(platform.context, shell)
  recordClosed(platform.context, shell, end)
  expect(eventsOf('shell_opened').length + eventsOf('shell_closed').length).toBe(KEPT_EVENTS)
  expect(eventsOf('shell_closed').at(-1)).toMatchObject({ shellId: 'first', exitCode: 0 })
})

test('a shell that is opened while the start still sorts out what was left has its row, and no end is made up for it', () => {
  const opened = { ...shell, shellId: 'early' }
  const leave = platform.context.shells.take({
    shellId: opened.shellId,
    serviceId: shell.service.id,
    workspaceId: shell.service.workspaceId,
    end() {},
  })
  recordOpened(platform.context, opened)
  recordLost(platform.context)
  expect(workloadById(platform.db, 'early')?.phase).toBe('running')
  leave()
  recordClosed(platform.context, opened, end)
  const ends = eventsOf('shell_closed').filter(({ shellId }) => shellId === 'early')
  expect(ends).toEqual([expect.objectContaining({ exitCode: 0 })])
})
