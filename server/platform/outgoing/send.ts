/**
 * The one way out for requests whose destination comes from a setting, a tenant or somebody's answer. A name is resolved once, its
 * addresses are checked, and the connection goes to a checked address, so DNS that changes meanwhile changes nothing. The certificate is
 * verified against the name. Where the environment names an HTTP proxy, that one connects to the checked address.
 */
import { parseIp } from '../../../shared/ip-address.ts'
import { OutgoingProblem } from './problem.ts'
import { type Lookup, resolveReachable, systemLookup } from './resolve.ts'
import { hostOf, isSafeUrl, type OutgoingPolicy } from './rules.ts'

export const DEFAULT_TIMEOUT_MS = 10_000
export const DEFAULT_MAX_ANSWER_BYTES = 256 * 1024
const MAX_ADDRESSES_TRIED = 3

export interface OutgoingRequest {
  url: URL
  method: string
  headers: Headers
  body?: RequestInit['body']
}

export interface SendOptions extends OutgoingPolicy {
  signal?: AbortSignal | undefined
  timeoutMs?: number
  maxAnswerBytes?: number
  /** What becomes of a longer answer: an error, unless it is to be cut there and its connection ended. */
  longAnswer?: 'cut'
  lookup?: Lookup
  ca?: string | undefined
}

/** Sends a request and reads the answer, the whole of it unless it is to be cut; redirects are answers. @throws OutgoingProblem, or the signal's reason when it aborts. */
export async function sendOutgoing(request: OutgoingRequest, options: SendOptions): Promise<Response> {
  const { url } = request
  const host = hostOf(url)
  if (!isSafeUrl(url)) throw new OutgoingProblem('refused', `${url.protocol}//${url.host} is not reached over https.`)
  const { signal, isLate, release } = boundTo(options)
  try {
    const addresses = await resolveReachable(host, options, { lookup: options.lookup ?? systemLookup, signal })
    const response = await connectToOne(addresses.slice(0, MAX_ADDRESSES_TRIED), request, { signal, ca: options.ca })
    return await readAnswer(response, host, options)
  } catch (cause) {
    options.signal?.throwIfAborted()
    if (isLate()) throw new OutgoingProblem('late', `${host} gave no answer in time.`, { cause })
    if (cause instanceof OutgoingProblem) throw cause
    throw new OutgoingProblem('unreachable', `${host} could not be reached, or broke off.`, { cause })
  } finally {
    release()
  }
}

/** A signal for one request. `AbortSignal.timeout` would keep what it is given to until its time is over, long after the answer. */
function boundTo({ signal: outer, timeoutMs = DEFAULT_TIMEOUT_MS }: SendOptions): {
  signal: AbortSignal
  isLate(): boolean
  release(): void
} {
  const controller = new AbortController()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    controller.abort()
  }, timeoutMs)
  const abort = () => controller.abort(outer?.reason)
  if (outer?.aborted) abort()
  outer?.addEventListener('abort', abort, { once: true })
  return {
    signal: controller.signal,
    isLate: () => isLate,
    release() {
      clearTimeout(timer)
      outer?.removeEventListener('abort', abort)
    },
  }
}

interface Connecting {
  signal: AbortSignal
  ca: string | undefined
}

/** The next address is tried only where no connection came about: what was sent once is not sent twice. */
async function connectToOne(addresses: readonly string[], request: OutgoingRequest, how: Connecting): Promise<Response> {
  const [address = '', ...others] = addresses
  try {
    return await fetchFrom(address, request, how)
  } catch (error) {
    if (others.length === 0 || !isUnconnected(error)) throw error
    return connectToOne(others, request, how)
  }
}

function fetchFrom(address: string, { url, method, headers, body }: OutgoingRequest, { signal, ca }: Connecting): Promise<Response> {
  const pinned = new URL(url)
  pinned.hostname = address.includes(':') ? `[${address}]` : address
  const sent = new Headers(headers)
  sent.set('Host', url.host)
  // Unpacked sizes are not bounded by packed ones.
  sent.set('Accept-Encoding', 'identity')
  if (!sent.has('User-Agent')) sent.set('User-Agent', 'cpd')
  return fetch(pinned, {
    method,
    headers: sent,
    body: body ?? null,
    redirect: 'manual',
    // Connections are kept by address: another name's must not be taken up.
    keepalive: false,
    signal,
    tls: { ...(isNamed(url) && { serverName: hostOf(url) }), ...(ca !== undefined && { ca }) },
  })
}

/** An address is no server name (RFC 6066 section 3): the certificate is verified against what the URL says then. */
const isNamed = (url: URL): boolean => url.protocol === 'https:' && parseIp(hostOf(url)) === undefined

const unconnectedCodes: ReadonlySet<unknown> = new Set([
  'ConnectionRefused',
  'ECONNREFUSED',
  'FailedToOpenSocket',
  'EHOSTUNREACH',
  'ENETUNREACH',
])

const isUnconnected = (error: unknown): boolean => error instanceof Error && 'code' in error && unconnectedCodes.has(error.code)

const bodylessStatuses: ReadonlySet<number> = new Set([101, 204, 205, 304])

async function readAnswer(
  response: Response,
  host: string,
  { maxAnswerBytes = DEFAULT_MAX_ANSWER_BYTES, longAnswer }: SendOptions,
): Promise<Response> {
  if (isSurelyWithin(response, maxAnswerBytes)) return answerOf(response, await response.arrayBuffer())
  const chunks: Uint8Array[] = []
  let sizeBytes = 0
  for await (const chunk of response.body ?? []) {
    sizeBytes += chunk.byteLength
    chunks.push(chunk)
    if (sizeBytes <= maxAnswerBytes) continue
    if (longAnswer === undefined) throw new OutgoingProblem('oversized', `${host} answered with more than ${maxAnswerBytes} bytes.`)
    break
  }
  return answerOf(response, Buffer.concat(chunks, Math.min(sizeBytes, maxAnswerBytes)))
}

/** A stream costs more than the rest of a request, and most answers say how long they are. What is packed has another size unpacked. */
const isSurelyWithin = ({ headers }: Response, maxBytes: number): boolean =>
  !headers.has('content-encoding') &&
  /^\d{1,9}$/.test(headers.get('content-length') ?? '') &&
  Number(headers.get('content-length')) <= maxBytes

const answerOf = ({ status, headers }: Response, body: ArrayBuffer | Uint8Array<ArrayBuffer>): Response =>
  new Response(bodylessStatuses.has(status) ? null : body, { status, headers })
