import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AuditEntry } from '../../shared/audit.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'

const ROUNDS = 5
const REQUESTS = 40

let cpd: Compiled
beforeAll(async () => {
  cpd = await startCompiled()
})
afterAll(() => cpd.stop())

async function namesOfServices(): Promise<string[]> {
  const names: string[] = []
  for (let cursor = ''; ; ) {
    const { body } = await cpd.api<{ service: { name: string }; cursor: string }[]>(`/services?limit=100${cursor && `&cursor=${cursor}`}`)
    if (body.length === 0) return names.sort()
    names.push(...body.map(({ service }) => service.name))
    cursor = body.at(-1)?.cursor ?? ''
  }
}

async function namesInTheLog(): Promise<string[]> {
  const { body } = await cpd.api<{ auditLog: AuditEntry }[]>('/audit-logs?event=service.created&limit=1000')
  return body.map(({ auditLog }) => (auditLog.metadata.request as { name: string }).name).sort()
}

test('killed in the middle of requests: no change without its entry, no entry without its change, and the chain goes on', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const json = (index: number) => ({ type: 'background_worker', name: `r${round}-${index}` })
    const requests = Array.from({ length: REQUESTS }, (_, index) => cpd.api('/services', { json: json(index) }).catch(() => undefined))
    await Promise.race(requests)
    await Bun.sleep(round * 15)
    await cpd.kill9()
    await Promise.all(requests)
    await cpd.start()
    expect(await namesInTheLog()).toEqual(await namesOfServices())
  }
  const verified = await cpd.cpctl(['audit', 'verify', '--json'])
  expect({ exitCode: verified.exitCode, ...JSON.parse(verified.stdout) }).toMatchObject({ exitCode: 0, isIntact: true })
  console.info(`audit: ${(await namesInTheLog()).length} of ${ROUNDS * REQUESTS} requests were answered or at least done`)
}, 300_000)
