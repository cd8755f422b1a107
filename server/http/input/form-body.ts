import { AppError } from '../../../shared/error.ts'
import { type BodyLimits, decodeUtf8, parseJson, readBounded, readJsonBody } from './json-body.ts'

const formType = 'application/x-www-form-urlencoded'

export const isForm = ({ headers }: Request): boolean => typeOf(headers) === formType

/** @throws AppError `unsupported_media_type`, `payload_too_large`, or `bad_request` for one unreadable or with a field twice. */
export async function readForm(request: Request, limits: BodyLimits): Promise<Record<string, string>> {
  if (!isForm(request)) throw new AppError('unsupported_media_type', `Send the fields as Content-Type: ${formType}.`)
  return request.body === null ? {} : fieldsOf(decodeUtf8(await readBounded(request, limits)))
}

/** Takes a form or JSON, whatever its content type says: Render's CLI sends JSON and calls it a form. @throws AppError as `readForm`. */
export async function readFormOrJson(request: Request, limits: BodyLimits): Promise<unknown> {
  if (!isForm(request)) return readJsonBody(request, limits)
  if (request.body === null) return undefined
  const bytes = await readBounded(request, limits)
  if (bytes.length === 0) return undefined
  return decodeUtf8(bytes).trimStart().startsWith('{') ? parseJson(bytes) : fieldsOf(decodeUtf8(bytes))
}

const typeOf = (headers: Headers): string => (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''

function fieldsOf(text: string): Record<string, string> {
  const given = [...new URLSearchParams(text)]
  const fields = Object.fromEntries(given)
  if (Object.keys(fields).length < given.length) throw new AppError('bad_request', 'The form names a field twice.')
  return fields
}
