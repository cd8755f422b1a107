import { CliError, Interrupted } from '../base/error.ts'

/** Connections that broke after they were made: the request may or may not have arrived. */
const dropped = new Set(['ECONNRESET', 'EPIPE', 'ConnectionClosed', 'UND_ERR_SOCKET', 'ERR_STREAM_PREMATURE_CLOSE'])
const certificate = /certificate|self.signed|CERT_|UNABLE_TO_/i

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')

export const isDropped = (error: unknown): boolean => dropped.has(codeOf(error))

export function failureOf(error: unknown, url: string, signal?: AbortSignal): Error {
  if (error instanceof CliError || error instanceof Interrupted) return error
  if (signal?.reason instanceof CliError || signal?.reason instanceof Interrupted) return signal.reason
  const unavailable = (message: string, hint?: string) =>
    new CliError('unavailable', message, { cause: error, ...(hint === undefined ? {} : { hint }) })
  const name = error instanceof Error ? error.name : ''
  if (name === 'TimeoutError') return unavailable(`${url} did not answer in time.`, 'See whether the server is overloaded, and try again.')
  if (name === 'AbortError') return new Interrupted()
  if (isDropped(error)) return unavailable(`${url} closed the connection before it answered.`, 'Try again.')
  const text = `${codeOf(error)} ${error instanceof Error ? error.message : error}`
  if (certificate.test(text)) {
    return unavailable(
      `The certificate of ${url} is not trusted: ${text.trim()}`,
      'Set NODE_EXTRA_CA_CERTS to the file of the authority that signed it.',
    )
  }
  return unavailable(`Cannot reach ${url}: is the server running?`, 'Set CPCTL_URL or run cpctl login --url <url>.')
}
