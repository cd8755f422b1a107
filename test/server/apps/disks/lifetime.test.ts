import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Deploy } from '../../../../shared/deploy.ts'
import { diskApp, makeServiceWithDisk } from '../../../support/disks.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform({ CP_HEALTH_TIMEOUT_SECONDS: '5' })
})
afterAll(() => platform.close())

const visit = async ({ name }: TestService, path = '/'): Promise<string> => (await platform.ingress.visit(`${name}.localhost`, path)).text
/** An instance that serves is in the routes a moment later. */
const visitBack = ({ name }: TestService, path: string): Promise<string> =>
  until(`${path} is answered`, async () => {
    const { status, text } = await platform.ingress.visit(`${name}.localhost`, path)
    return status === 200 && text
  })

describe('what is on a disk', () => {
  test('stays the same through a deploy, a rollback, a restart and a crash', async () => {
    const { service } = await makeServiceWithDisk(platform, 'keeps')
    const first = await service.goLive('hello-js', diskApp)
    expect(JSON.parse(await visit(service, '/where'))).toMatchObject({ root: '/var/data', files: [], mode: 0o700 })
    await visit(service, '/make')
    const hash = await visit(service, '/hash')
    expect(hash).toMatch(/^[0-9a-f]{64}$/)

    const second = await service.goLive('hello-js', { ...diskApp, 'note.txt': 'second' })
    expect(await visit(service)).toBe(second.id)
    expect(await visit(service, '/hash')).toBe(hash)
    expect(second.rollout.strategy).toBe('stop_first')
    expect(second.rollout.gapMs).toBeGreaterThan(0)
    expect(first.rollout).toEqual({ strategy: 'stop_first' })

    const { body: plan } = await service.ask<{ strategy: string }>('/rollback', { method: 'POST', json: { dryRun: true } })
    expect(plan.strategy).toBe('stop_first')
    const { body: back } = await service.ask<Deploy>('/rollback', { method: 'POST', json: {} })
    await service.reaches(back.id, 'live')
    expect(await visit(service, '/hash')).toBe(hash)

    const [before] = await service.instances()
    await service.ask('/restart', { method: 'POST' })
    await until('another instance runs', async () => {
      const [now] = await service.instances()
      return now?.status === 'running' && now.id !== before?.id
    })
    expect(await visitBack(service, '/hash')).toBe(hash)
    expect(existsSync('/var/data')).toBe(false)
  })

  test('is not seen by another service, nor by builds', async () => {
    const { service, disk } = await makeServiceWithDisk(platform, 'private-data', {
      envSpecificDetails: { buildCommand: 'ls /var/data >seen 2>&1; true' },
    })
    await service.goLive('hello-js', diskApp)
    await visit(service, '/put?secret=told')
    const image = join(platform.dataDir, 'disks', disk.id)
    const other = await makeService(platform, { name: 'neighbour' })
    const nosy = `require('node:http').createServer((_, response) => {
      const read = (path) => { try { return require('node:fs').readdirSync(path).join() } catch (error) { return error.code } }
      response.end(JSON.stringify([read('/var/data'), read(${JSON.stringify(image)}), read(${JSON.stringify(join(platform.dataDir, 'disks'))})]))
    }).listen(process.env.PORT)`
    await other.goLive('hello-js', { 'server.js': nosy })
    expect(JSON.parse(await visit(other))).toEqual([
      'ENOENT',
      expect.stringMatching(/ENOENT|EACCES/),
      expect.stringMatching(/ENOENT|EACCES|^$/),
    ])
    expect(await visit(service, '/get?secret')).toBe('told')
  })

  test('is full at its size, and nothing else suffers', async () => {
    const { service } = await makeServiceWithDisk(platform, 'fills')
    await service.goLive('hello-js', diskApp)
    const [code, bytes] = (await visit(service, '/fill')).split(' ')
    expect(code).toBe('ENOSPC')
    expect(Number(bytes)).toBeGreaterThan(900 * 1024 ** 2)
    expect(Number(bytes)).toBeLessThan(1024 ** 3)
    expect((await service.ask('')).status).toBe(200)
    expect(await visit(service, '/empty')).toBe('emptied')
    expect(await visit(service, '/put?again=fits')).toBe('put')
  }, 120_000)
})

test('nothing of a disk is mounted on the machine, and a loop device is free when its service is deleted', async () => {
  const { service, disk } = await makeServiceWithDisk(platform, 'leaves-nothing')
  await service.goLive('hello-js', diskApp)
  expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(platform.dataDir)
  await service.ask('', { method: 'DELETE' })
  await until('the service is gone', () => platform.db.query('SELECT id FROM services WHERE id = ?').get(service.id) === null)
  const attached = readdirSync('/sys/block').filter((name) => {
    const file = `/sys/block/${name}/loop/backing_file`
    return existsSync(file) && readFileSync(file, 'utf8').includes(disk.id)
  })
  expect(attached).toEqual([])
  const kept = await disk.read()
  expect(Date.parse(kept.expiresAt ?? '') - Date.parse(kept.deletedAt ?? '')).toBe(7 * 24 * 60 * 60_000)
})
