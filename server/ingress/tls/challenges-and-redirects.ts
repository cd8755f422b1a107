import { STATUS_CODES } from 'node:http'
import type { ClientSide, Exchange } from '../exchange/exchange.ts'
import { pageResponse } from '../exchange/page.ts'
import { type LocalResponse, respond } from '../exchange/respond.ts'
import { fieldValue, type RequestHead } from '../message/request-head.ts'
import type { Certificates } from './certificates.ts'
import { redirectToHttps } from './https-redirect.ts'

const CHALLENGE_PATH = '/.well-known/acme-challenge/'

export interface BeforeRoutesParts {
  certificates: Certificates
  tlsPort(): number | undefined
  claim(head: RequestHead, client: ClientSide): void
  answer(head: RequestHead, client: ClientSide): Exchange | undefined
}

export function answerBeforeRoutes({ certificates, tlsPort, claim, answer }: BeforeRoutesParts): BeforeRoutesParts['answer'] {
  return (head, client) => {
    const local = challengeAnswer(certificates, head) ?? redirect(head, client)
    if (local === undefined) return answer(head, client)
    claim(head, client)
    respond(client, head.method, local)
    return undefined
  }

  function redirect(head: RequestHead, client: ClientSide): LocalResponse | undefined {
    const port = client.scheme === 'http' ? tlsPort() : undefined
    if (port === undefined || !certificates.isTrustedAt(head.host)) return undefined
    const claimed = client.isTrusted ? fieldValue(head.fields, 'x-forwarded-proto') : undefined
    const plan = redirectToHttps({ method: head.method, host: head.host, target: head.target, port, claimedScheme: claimed })
    if (plan === undefined) return undefined
    const page = { status: plan.status, title: STATUS_CODES[plan.status] ?? 'Moved', text: `This site is served at ${plan.location}` }
    const response = pageResponse(page, fieldValue(head.fields, 'accept'))
    return { ...response, headers: [['Location', plan.location], ...response.headers] }
  }
}

function challengeAnswer(certificates: Certificates, { host, target }: RequestHead): LocalResponse | undefined {
  if (!target.startsWith(CHALLENGE_PATH)) return undefined
  const answer = certificates.httpChallengeAnswer(host, target.slice(CHALLENGE_PATH.length))
  if (answer === undefined) return undefined
  const headers = [
    ['Content-Type', 'application/octet-stream'],
    ['Cache-Control', 'no-store'],
  ] as const
  return { status: 200, headers, body: Buffer.from(answer) }
}
