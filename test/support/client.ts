export interface Reply<T = unknown> {
  status: number
  headers: Headers
  body: T
}

export interface CallOptions {
  method?: string
  token?: string
  cookie?: string
  /** Sent as JSON. */
  json?: unknown
  /** Sent as it stands. */
  raw?: string | Uint8Array<ArrayBuffer> | ReadableStream
  headers?: Record<string, string>
}

/** One call of the API with its body read: as JSON where it is, else as text, undefined where there is none. */
export async function call<T = Record<string, unknown>>(url: string, options: CallOptions = {}): Promise<Reply<T>> {
  const { method = options.json === undefined && options.raw === undefined ? 'GET' : 'POST', token, cookie, json, raw } = options
  const headers = new Headers(options.headers)
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
  if (cookie !== undefined) headers.set('cookie', cookie)
  if (json !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/json')
  const body = json === undefined ? raw : JSON.stringify(json)
  const response = await fetch(url, { method, headers, redirect: 'manual', ...(body === undefined ? {} : { body }) })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: parsed(text) as T }
}

function parsed(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The `name=value` of the session cookie that an answer sets. */
export function cookieOf({ headers }: Reply): string {
  const [pair = ''] = (headers.get('set-cookie') ?? '').split(';')
  return pair
}
