import { type AccessRecord, ending, parseAccessRecord } from '../../ingress/traffic/access-record.ts'
import { type ConnectionRecord, parseConnectionRecord } from '../../ingress/traffic/connection-record.ts'
import type { NewLogLine } from '../logs/line.ts'
import { requestMessage } from '../logs/request-line.ts'

/** Logged where a client left before an answer had begun, as other proxies do; no such status is ever sent. */
const CLIENT_CLOSED = 499

export function requestLine(record: string): NewLogLine | undefined {
  const request = parseAccessRecord(record)
  if (request === undefined) return connectionLine(record)
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

/** A line of a database about who came, as its server would see it if clients reached it at once. */
function connectionLine(record: string): NewLogLine | undefined {
  const connection = parseConnectionRecord(record)
  if (connection === undefined) return undefined
  const { at, id, instanceId, event } = connection
  const level = event === 'refused' ? 'warning' : 'info'
  return { timestampMs: at, resource: id, type: 'app', instance: instanceId, level, message: connectionMessage(connection) }
}

function connectionMessage({ event, address, about, durationMs, receivedBytes, sentBytes }: ConnectionRecord): string {
  const who = `connection from ${address}${about === '' || event === 'refused' ? '' : ` ${about}`}`
  if (event === 'opened') return `${who} opened`
  if (event === 'refused') return `${who} refused: ${about}`
  return `${who} closed after ${(durationMs / 1000).toFixed(1)} s, ${receivedBytes} bytes received, ${sentBytes} sent`
}

const cutOffBy = { [ending.whole]: undefined, [ending.clientGone]: 'client', [ending.brokenOff]: 'instance' } as const

function labelsOf({ host, method, status, target }: AccessRecord): Required<NonNullable<NewLogLine['labels']>> {
  const queryAt = target.indexOf('?')
  return { host, method, statusCode: String(status || CLIENT_CLOSED), path: queryAt < 0 ? target : target.slice(0, queryAt) }
}
