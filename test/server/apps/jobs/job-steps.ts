import { isJobOver, type Job } from '../../../../shared/job.ts'
import type { LogPage } from '../../../../shared/log.ts'
import { call } from '../../../support/client.ts'
import type { TestServer } from '../../../support/server.ts'
import type { TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

/** Has a command run as a job that must be taken. */
export async function runJob(service: Pick<TestService, 'ask'>, startCommand: string): Promise<Job> {
  const { status, body } = await service.ask<Job>('/jobs', { json: { startCommand } })
  if (status !== 201) throw new Error(`No job: ${JSON.stringify(body)}`)
  return body
}

/** The job once it is over. */
export const jobEnd = (service: Pick<TestService, 'ask'>, { id }: Pick<Job, 'id'>): Promise<Job> =>
  until(`job ${id} is over`, async () => {
    const { body } = await service.ask<Job>(`/jobs/${id}`)
    return isJobOver(body.status) && body
  })

/** What an instance or job of a service wrote, oldest line first. */
export async function linesOf(
  server: Pick<TestServer, 'url' | 'adminToken'>,
  { id }: Pick<TestService, 'id'>,
  instance: string,
): Promise<string[]> {
  const lines: string[] = []
  let query = `direction=forward&limit=100&resource=${id}&instance=${instance}&startTime=2020-01-01T00:00:00Z`
  for (;;) {
    const { body } = await call<LogPage>(`${server.url}/v1/logs?${query}`, { token: server.adminToken })
    lines.push(...body.logs.map(({ message }) => message))
    if (!body.hasMore) return lines
    query = `direction=forward&limit=100&resource=${id}&instance=${instance}&startTime=${encodeURIComponent(body.nextStartTime)}&endTime=${encodeURIComponent(body.nextEndTime)}`
  }
}
