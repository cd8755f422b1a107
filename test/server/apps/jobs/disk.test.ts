import { afterAll, beforeAll, expect, test } from 'vitest'
import { diskApp, makeServiceWithDisk } from '../../../support/disks.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { until } from '../../../support/until.ts'
import { jobEnd, linesOf, runJob } from './job-steps.ts'

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.close())

test('a job has the disk of its service beside the instance, and yields to what is done with the disk', async () => {
  const { service, disk } = await makeServiceWithDisk(platform, 'shared')
  await service.goLive('hello-js', diskApp)
  const written = await runJob(service, 'echo by a job > "$CPD_DISK_PATH/note"; sync; ls "$CPD_DISK_PATH"')
  expect(await jobEnd(service, written)).toMatchObject({ status: 'succeeded' })
  expect(await linesOf(platform, service, written.id)).toEqual(['note'])
  const { text } = await platform.ingress.visit('shared.localhost', '/where')
  expect(JSON.parse(text).files).toEqual(['note'])

  const { snapshotKey } = await disk.snapshot()
  const running = await runJob(service, 'echo up; rm "$CPD_DISK_PATH/note"; sleep 60')
  await until('it runs', async () => (await linesOf(platform, service, running.id)).includes('up'))
  await disk.restore(snapshotKey)
  expect(await jobEnd(service, running)).toMatchObject({ status: 'canceled', reason: 'The disk of the service is being changed.' })
  const after = await runJob(service, 'cat "$CPD_DISK_PATH/note"')
  expect(await jobEnd(service, after)).toMatchObject({ status: 'succeeded' })
  expect(await linesOf(platform, service, after.id)).toEqual(['by a job'])
})

test('jobs that start at the same moment share one mount of the disk', async () => {
  const { service } = await makeServiceWithDisk(platform, 'crowd')
  await service.goLive('hello-js', diskApp)
  const jobs = await Promise.all(
    Array.from({ length: 6 }, (_, number) => runJob(service, `echo ${number} >"$CPD_DISK_PATH/${number}"; stat -c %d "$CPD_DISK_PATH"`)),
  )
  for (const job of jobs) expect(await jobEnd(service, job)).toMatchObject({ status: 'succeeded' })
  const devices = await Promise.all(jobs.map((job) => linesOf(platform, service, job.id)))
  expect(new Set(devices.flat()).size).toBe(1)
  const { text } = await platform.ingress.visit('crowd.localhost', '/where')
  expect(JSON.parse(text).files).toEqual(['0', '1', '2', '3', '4', '5'])
})
