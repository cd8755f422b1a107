import { AppError } from '../../../shared/error.ts'

const basicPattern = /^Basic +([A-Za-z0-9+/=]{1,1400})$/i
const challenge = 'Basic realm="cpd", charset="UTF-8"'

/** The request with the password that it shows as its token, whatever user it names. What is no such password stays as it is. */
export function withPasswordAsToken(request: Request): Request {
  const encoded = basicPattern.exec(request.headers.get('authorization') ?? '')?.[1]
  if (encoded === undefined) return request
  const [, password] = /^[^:]*:(.+)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? []
  if (password !== undefined && /^[!-~]+$/.test(password)) request.headers.set('authorization', `Bearer ${password}`)
  return request
}

/** The refusal as such programs understand it: one that says how a password is asked for, and git the words alone. */
export function asBasicRefusal(response: Response, { request, error }: { request: Request; error: unknown }): Response {
  if (response.status === 401) response.headers.set('WWW-Authenticate', challenge)
  if (!(request.headers.get('user-agent') ?? '').startsWith('git/') || !(error instanceof AppError)) return response
  const { status, headers } = response
  headers.set('Content-Type', 'text/plain; charset=utf-8')
  return new Response(`${error.message}\n`, { status, headers })
}
