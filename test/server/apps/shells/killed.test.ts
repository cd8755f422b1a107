import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startControlPlane } from '../../../support/control-plane.ts'
import { everyEvent, makeService } from '../../../support/service.ts'
import { openShell, pidsWith } from '../../../support/shell.ts'
import { until } from '../../../support/until.ts'

test('a shell whose control plane is killed is gone with everything in it, and its end is written down once', async () => {
  const marker = `${700_000 + Math.floor(Math.random() * 90_000)}`
  const plane = await startControlPlane()
  const service = await makeService(plane, { name: 'killed' })
  try {
    await service.goLive('hello-js')
    await openShell(plane, service.id, { query: { command: `setsid sleep ${marker} & sleep ${marker}` } })
    await until('it runs', () => pidsWith(`sleep ${marker}`).length >= 2)
    await plane.kill()
    await plane.start()
    await until('nothing of it is left', () => pidsWith(marker).length === 0)
    await plane.kill()
    await plane.start()
    const closings = async () => (await serviceEvents()).filter(({ type }) => type === 'shell_closed')
    const serviceEvents = async () => {
      const reply = await fetch(`${plane.url}/v1/services/${service.id}/events?${everyEvent}`, {
        headers: { authorization: `Bearer ${plane.adminToken}` },
      })
      return ((await reply.json()) as { event: { type: string; details: Record<string, unknown> } }[]).map(({ event }) => event)
    }
    expect((await closings()).map(({ details }) => details.reason)).toEqual(['The control plane ended'])
  } finally {
    const headers = { authorization: `Bearer ${plane.adminToken}` }
    await fetch(`${plane.url}/v1/services/${service.id}`, { method: 'DELETE', headers })
    await until('the service is gone', () => readdirSync(join(plane.dataDir, 'services')).length === 0)
    await plane.close()
  }
})
