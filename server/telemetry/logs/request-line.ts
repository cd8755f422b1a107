import type { LabelTest, RequestLabel } from './label-pattern.ts'
import type { RequestLabels } from './line.ts'

export interface RequestFacts {
  labels: Required<RequestLabels>
  target: string
  clientAddress: string
  requestId: string
  durationMs: string
  receivedBytes: number
  sentBytes: number
  protocol: string
  userAgent: string
  referer: string
  cutOffBy: 'client' | 'instance' | undefined
}

export function requestMessage(facts: RequestFacts): string {
  const { host, method, statusCode } = facts.labels
  let text = `[${method}] ${statusCode} ${host}${facts.target} clientIP="${facts.clientAddress}" requestID="${facts.requestId}"`
  text += ` responseTimeMS=${facts.durationMs} requestBytes=${facts.receivedBytes} responseBytes=${facts.sentBytes} protocol="${facts.protocol}"`
  text += ` userAgent="${facts.userAgent}"`
  if (facts.referer !== '') text += ` referer="${facts.referer}"`
  return facts.cutOffBy === undefined ? text : `${text} cutOff="${facts.cutOffBy}"`
}

const shown: Record<RequestLabel, (value: string) => string> = {
  host: (value) => ` ${value}`,
  method: (value) => `[${value}] `,
  statusCode: (value) => `] ${value} `,
  path: (value) => value,
}

/** Texts of which a line that passes the test holds one; undefined where that cannot be told. */
export function textsOf({ label, patterns }: LabelTest): string[] | undefined {
  return patterns.some((pattern) => pattern.includes('*')) ? undefined : patterns.map(shown[label])
}
