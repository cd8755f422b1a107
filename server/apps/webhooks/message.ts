/** What an event has to say to a receiver: little, by design. Who wants more asks for the event by its id. */
export interface Told {
  id: string
  type: string
  timestamp: string
  serviceId: string | null
  serviceName: string | null
  details: string
}

type Result = 'succeeded' | 'failed' | 'canceled'

const endings: ReadonlySet<string> = new Set(['build_ended', 'deploy_ended', 'cron_job_run_ended', 'job_run_ended'])

/** The body of a message. It is kept with what is to be sent, and never made twice for one delivery. */
export const bodyOf = ({ id, type, timestamp, serviceId, serviceName, details }: Told): string => {
  const service = serviceId === null ? {} : { serviceId, serviceName: serviceName ?? '' }
  const status = endings.has(type) ? resultOf(JSON.parse(details).status) : undefined
  return JSON.stringify({ type, timestamp, data: { id, ...service, ...(status === undefined ? {} : { status }) } })
}

const results: Readonly<Record<string, Result>> = {
  live: 'succeeded',
  succeeded: 'succeeded',
  successful: 'succeeded',
  canceled: 'canceled',
}

const resultOf = (status: unknown): Result | undefined => (typeof status === 'string' ? (results[status] ?? 'failed') : undefined)
