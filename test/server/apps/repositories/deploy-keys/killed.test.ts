import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Deploy } from '../../../../../shared/deploy.ts'
import type { DeployKey } from '../../../../../shared/deploy-key.ts'
import { createService } from '../../../../support/apps.ts'
import { call } from '../../../../support/client.ts'
import { type ControlPlane, startControlPlane } from '../../../../support/control-plane.ts'
import { type SshServer, startSshServer } from '../../../../support/ssh-server.ts'
import { until } from '../../../../support/until.ts'

let plane: ControlPlane
let server: SshServer
beforeAll(async () => {
  plane = await startControlPlane({ CP_OUTGOING_ALLOW: '127.0.0.0/8,::1/128' })
  server = await startSshServer()
})
afterAll(async () => {
  await plane.close()
  await server.close()
})

const ask = async <T>(path: string, json?: unknown): Promise<T> =>
  (await call<T>(`${plane.url}/v1/services/${path}`, { token: plane.adminToken, ...(json !== undefined && { json }) })).body

/** Clients of ours that run: each ssh names the folder of its fetch by where it stands. */
const clients = (): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').startsWith('/usr/bin/ssh\0-F\0ssh_config')
    } catch {
      return false
    }
  })

test('a control plane that is killed while a server keeps it waiting leaves no key and no client, and deploys once it is there again', async () => {
  const repository = server.make('slow')
  const commit = repository.commit({ 'index.html': 'here' })
  // No look at the branch has a folder of its own meanwhile.
  const details = { autoDeploy: 'no', serviceDetails: { publishPath: '.' } }
  const serviceId = await createService(plane, { name: 'slow', type: 'static_site', repo: repository.url, ...details })
  server.letIn((await ask<DeployKey>(`${serviceId}/deploy-key`)).publicKey)
  await server.answerWith('sleep 60')
  const { id } = await ask<Deploy>(`${serviceId}/deploys`, {})
  const fetches = join(plane.dataDir, 'fetches')
  await until('ssh waits for its server', () => clients().length > 0)
  expect(readdirSync(fetches)).toHaveLength(2)
  await plane.kill()
  await until('ssh has ended as well', () => clients().length === 0)
  await server.answerWith(undefined)
  await plane.start()
  const deploy = await until('the deploy has ended', async () => {
    const now = await ask<Deploy>(`${serviceId}/deploys/${id}`)
    return now.finishedAt !== undefined && now
  })
  expect(deploy).toMatchObject({ status: 'live', commit: { id: commit } })
  expect(readdirSync(fetches)).toEqual([])
})
