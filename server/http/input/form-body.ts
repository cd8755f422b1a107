import { AppError } from '../../../shared/error.ts'
import { type BodyLimits, decodeUtf8, parseJson, readBounded, readJsonBody } from './json-body.ts'

const formType = 'application/x-www-form-urlencoded'

/** Whether the body says that it is the form of a page. */
export const isForm = ({ headers }: Request): boolean => typeOf(headers) === formType

/**
 * The fields of a form, each given once.
 *
 * @throws AppError `unsupported_media_type` for another content type, `payload_too_large` beyond the limit, `bad_request` for a body that
 * is cut off, too slow, no UTF-8, or names a field twice.
 */
export async function readForm(request: Request, limits: BodyLimits): Promise<Record<string, string>> {
  if (!isForm(request)) throw new AppError('unsupported_media_type', `Send the fields as Content-Type: ${formType}.`)
  return request.body === null ? {} : fieldsOf(decodeUtf8(await readBounded(request, limits)))
}

/**
 * The body of an operation that takes forms as well as JSON: undefined where there is none. Render's CLI sends JSON and calls it a form.
 *
 * @throws AppError as `readForm` and `readJsonBody` do.
 */
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
