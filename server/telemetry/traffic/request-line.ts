import { type AccessRecord, ending, parseAccessRecord } from '../../ingress/traffic/access-record.ts'
import type { NewLogLine } from '../logs/line.ts'
import { requestMessage } from '../logs/request-line.ts'

/** Logged where a client left before an answer had begun, as other proxies do; no such status is ever sent. */
const CLIENT_CLOSED = 499

export function requestLine(record: string): NewLogLine | undefined {
  const request = parseAccessRecord(record)
  if (request === undefined) return undefined
  const origin = { timestampMs: request.at, resource: request.serviceId, type: 'request' } as const
  if ('leftOut' in request) {
    const message = `${request.leftOut} lines of requests were left out here: they came faster than they could be stored.`
    return { ...origin, instance: '', level: 'warning', message }
  }
  const labels = labelsOf(request)
  return {
    ...origin,
    instance: request.instanceId,
    level: request.status >= 500 || request.ending === ending.brokenOff ? 'error' : 'info',
    labels,
    message: requestMessage({ ...request, labels, clientAddress: request.address, cutOffBy: cutOffBy[request.ending] }),
  }
}

const cutOffBy = { [ending.whole]: undefined, [ending.clientGone]: 'client', [ending.brokenOff]: 'instance' } as const

function labelsOf({ host, method, status, target }: AccessRecord): Required<NonNullable<NewLogLine['labels']>> {
  const queryAt = target.indexOf('?')
  return { host, method, statusCode: String(status || CLIENT_CLOSED), path: queryAt < 0 ? target : target.slice(0, queryAt) }
}
