import { STATUS_CODES } from 'node:http'
import type { TSchema } from '@sinclair/typebox'
import { ErrorBody, type ErrorCode, errorStatus } from '../../../shared/error.ts'
import { acceptingNulls } from '../../../shared/null-fields.ts'
import type { Operation, Protection } from '../../../shared/operation.ts'
import { idempotencyKeyPattern } from '../../http/answers/idempotency.ts'
import { type Components, exampleOf, type JsonObject, toOpenApiSchema } from './schema.ts'

/** Named schemas are added to `components`. */
export function openApiEntry(id: string, operation: Operation, components: Components): JsonObject {
  const requestBody = requestBodyOf(operation, components)
  return {
    operationId: id,
    tags: [operation.tag],
    summary: operation.summary,
    description: descriptionOf(operation),
    'x-permission': operation.access,
    ...(operation.inProtected && { 'x-in-protected-environment': operation.inProtected }),
    security: securityOf(operation),
    parameters: parametersOf(operation, components),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: { ...successesOf(operation, components), ...errorsOf(operation, components) },
  }
}

const securityOf = ({ access, takesBasic }: Operation): JsonObject[] =>
  access === 'public' ? [] : [{ bearer: [] }, { session: [] }, ...(takesBasic ? [{ basic: [] }] : [])]

const inProtectedWords: Record<Protection, string> = {
  refused: ' In a protected environment it needs `environments.manage_protected` as well.',
  hidden: ' In a protected environment values are shown with `environments.manage_protected` only.',
  depends: ' In a protected environment what destroys or reveals needs `environments.manage_protected` as well.',
}

function descriptionOf({ access, description, summary, inProtected }: Operation): string {
  const rights = {
    public: 'Public: needs no credential.',
    authenticated: 'Needs a credential, but no particular permission.',
  }[access as string]
  return `${description ?? `${summary}.`}\n\n${rights ?? `Needs the permission \`${access}\`.`}${inProtected === undefined ? '' : inProtectedWords[inProtected]}`
}

function parametersOf({ params, query, creates, access }: Operation, components: Components): JsonObject[] {
  const header = (name: string, description: string, schema: object = {}) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string', ...schema },
  })
  return [
    ...Object.entries(params?.properties ?? {}).map(([name, schema]) => parameter(name, 'path', { schema, components, isRequired: true })),
    ...Object.entries(query?.properties ?? {}).map(([name, schema]) =>
      parameter(name, 'query', { schema, components, isRequired: query?.required?.includes(name) ?? false }),
    ),
    ...(creates
      ? [
          header('Idempotency-Key', 'The same key and request within 24 hours get the first answer again', {
            pattern: idempotencyKeyPattern,
          }),
        ]
      : []),
    ...(access === 'public' ? [] : [header('X-Workspace-Id', 'Workspace to act in, for users of several')]),
  ]
}

function parameter(
  name: string,
  place: 'path' | 'query',
  { schema, components, isRequired }: { schema: TSchema; components: Components; isRequired: boolean },
): JsonObject {
  const { description, example, ...rest } = toOpenApiSchema(schema, components)
  const text = [description, example === undefined ? undefined : `Example: \`${example}\``].filter((part) => part !== undefined).join('. ')
  // Swagger UI sends the example of a parameter unless it is cleared; one that narrows a list must not be sent unasked.
  const shown = isRequired && example !== undefined ? { ...rest, example } : rest
  return { name, in: place, required: isRequired, ...(text === '' ? {} : { description: text }), schema: shown }
}

function requestBodyOf({ body, bodyOptional, form, stream }: Operation, components: Components): JsonObject | undefined {
  if (stream !== undefined) {
    const content = Object.fromEntries(stream.contentTypes.map((type) => [type, { schema: binarySchema(type) }]))
    return { required: true, description: `At most ${stream.maxBytes} bytes by default (${stream.description}).`, content }
  }
  if (body === undefined) return undefined
  const schema = toOpenApiSchema(acceptingNulls(body), components)
  const asForm = form ? { 'application/x-www-form-urlencoded': { schema } } : {}
  return { required: !bodyOptional, content: { 'application/json': { schema, example: exampleOf(body) }, ...asForm } }
}

function binarySchema(contentType: string): JsonObject {
  const binary = { type: 'string', format: 'binary' }
  return contentType === 'multipart/form-data' ? { type: 'object', required: ['file'], properties: { file: binary } } : binary
}

function successesOf({ responses, html, plain }: Operation, components: Components): JsonObject {
  return Object.fromEntries(
    Object.entries(responses).map(([status, schema]) => {
      const page = html ? { 'text/html': { schema: { type: 'string' } } } : {}
      const json =
        schema === null
          ? undefined
          : plain
            ? { [plain === true ? 'text/plain' : plain]: { schema: { type: 'string' } } }
            : jsonContent(schema, components)
      const content = json === undefined ? {} : { content: { ...json, ...page } }
      return [status, { description: STATUS_CODES[status] ?? 'Success', headers: headersFor(status), ...content }]
    }),
  )
}

function errorsOf(operation: Operation, components: Components): JsonObject {
  const schema = toOpenApiSchema(ErrorBody, components)
  const byStatus: Record<string, ErrorCode[]> = {}
  for (const code of errorCodesOf(operation)) {
    const status = errorStatus[code]
    if (!(status in operation.responses)) byStatus[status] = [...(byStatus[status] ?? []), code]
  }
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, codes]) => {
      const example = { message: `${STATUS_CODES[status]}: what to do next`, code: codes[0], id: '7f1c2e9a-1d2b-4c3d-8e4f-5a6b7c8d9e0f' }
      const content = { 'application/json': { schema, example } }
      return [status, { description: codes.join(' or '), headers: responseHeaders, content }]
    }),
  )
}

export function errorCodesOf({ access, body, creates, errors = [] }: Operation): ErrorCode[] {
  const codes: ErrorCode[] = ['bad_request', 'validation_failed', 'rate_limited', 'head_too_large', 'internal', 'unavailable', ...errors]
  if (access !== 'public') codes.push('unauthorized', 'forbidden', 'not_found')
  if (body !== undefined) codes.push('payload_too_large', 'unsupported_media_type')
  if (creates) codes.push('conflict')
  return [...new Set(codes)]
}

const headerNames = {
  'X-Request-Id': 'Id of this request, for the operator',
  'RateLimit-Limit': 'Requests a minute',
  'RateLimit-Remaining': 'Requests left now',
  'RateLimit-Reset': 'Seconds until all of them are there again',
}

export const headerComponents = Object.fromEntries(
  Object.entries(headerNames).map(([name, description]) => [name, { description, schema: { type: 'string' as const } }]),
)
const responseHeaders = Object.fromEntries(Object.keys(headerNames).map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const headersFor = (status: string): JsonObject =>
  status.startsWith('3') ? { ...responseHeaders, Location: { description: 'Where to go on', schema: { type: 'string' } } } : responseHeaders

const jsonContent = (schema: TSchema, components: Components): JsonObject => ({
  'application/json': { schema: toOpenApiSchema(schema, components), example: exampleOf(schema) },
})
