import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { errorCodesOf } from '../../server/api/docs/entry.ts'
import { exampleOf } from '../../server/api/docs/schema.ts'
import { createChecker } from '../../server/http/input/validate.ts'
import { errorStatus } from '../../shared/error.ts'
import { operationIds, operationOf } from '../../shared/operations/all.ts'
import { call } from '../support/client.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

type Json = Record<string, unknown>

interface Entry {
  operationId: string
  tags: string[]
  summary: string
  description: string
  'x-permission': string
  security: unknown[]
  parameters: { name: string; in: string; required: boolean; schema: Json }[]
  requestBody?: { content: Record<string, { schema: Json; example?: unknown }> }
  responses: Record<string, { description: string; headers: Json; content?: Record<string, { schema: Json; example?: unknown }> }>
}

interface OpenApi {
  openapi: string
  info: { title: string; version: string }
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, Entry>>
  components: { schemas: Json; headers: Json; securitySchemes: Json }
}

let server: TestServer
let document: OpenApi
beforeAll(async () => {
  server = await startTestServer()
  const reply = await call<OpenApi>(`${server.url}/docs/json`)
  expect(reply.status).toBe(200)
  expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8')
  document = reply.body
})
afterAll(() => server.close())

const entryOf = (id: (typeof operationIds)[number]): Entry => {
  const { method, path } = operationOf(id)
  const entry = document.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
  if (entry === undefined) throw new Error(`The document has no entry for ${id}`)
  return entry
}

test('the document is OpenAPI 3.0 with what that asks for, and its references lead somewhere', () => {
  expect(document.openapi).toMatch(/^3\.0\.\d$/)
  expect(document.info.title).not.toBe('')
  expect(document.info.version).not.toBe('')
  const references: string[] = []
  walk(document, (key, value) => key === '$ref' && references.push(String(value)))
  expect(references.length).toBeGreaterThan(50)
  for (const reference of new Set(references)) {
    const [, ...steps] = reference.split('/')
    expect({ reference, isThere: steps.reduce<unknown>((at, step) => (at as Json)?.[step], document) !== undefined }).toEqual({
      reference,
      isThere: true,
    })
  }
})

test('no schema uses words that OpenAPI 3.0 does not have', () => {
  const strange = new Set(['const', 'examples', 'patternProperties', '$id', '$schema', 'if', 'then', 'prefixItems', 'contentEncoding'])
  const found: string[] = []
  walk(document, (key, _, path) => {
    // Names of properties and values of examples are free.
    const isFree = /\/(properties|example)$/.test(path) || path.includes('/example/')
    if (strange.has(key) && !isFree) found.push(`${path}/${key}`)
  })
  walk(document, (key, value, path) => {
    if (
      key === 'type' &&
      typeof value === 'string' &&
      /schema/i.test(path) &&
      !path.endsWith('/properties') &&
      !path.includes('/example')
    ) {
      if (!['string', 'integer', 'number', 'boolean', 'array', 'object'].includes(value) && !path.includes('securitySchemes'))
        found.push(`${path}: ${value}`)
    }
  })
  expect(found).toEqual([])
})

test('each tag says what it is about', () => {
  const tags = new Set(operationIds.map((id) => operationOf(id).tag))
  expect(document.tags.map(({ name }) => name).sort()).toEqual([...tags].sort())
  for (const { name, description } of document.tags)
    expect({ name, description }).toEqual({ name, description: expect.stringMatching(/\w/) })
})

test('it has every operation of the table and no other', () => {
  const documented = Object.values(document.paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId))
  expect(documented.sort()).toEqual([...operationIds].sort())
})

describe.each(operationIds)('%s', (id) => {
  const operation = operationOf(id)

  test('says what it does, who may call it, and what its path takes', () => {
    const entry = entryOf(id)
    expect(entry.summary.length).toBeGreaterThan(3)
    expect(entry.tags.length).toBe(1)
    expect(entry['x-permission']).toBe(operation.access)
    expect(entry.security.length > 0).toBe(operation.access !== 'public')
    expect(entry.description).toMatch(/needs no credential|Needs a credential|Needs the permission/)
    const inPath = [...operation.path.matchAll(/:(\w+)/g)].map(([, name]) => name)
    const declared = entry.parameters.filter((one) => one.in === 'path')
    expect(declared.map(({ name, required }) => ({ name, required }))).toEqual(inPath.map((name) => ({ name, required: true })))
    const queries = entry.parameters.filter((one) => one.in === 'query').map(({ name }) => name)
    expect(queries.sort()).toEqual(Object.keys(operation.query?.properties ?? {}).sort())
    expect(entry.parameters.some(({ name }) => name === 'Idempotency-Key')).toBe(operation.creates === true)
  })

  test('describes every answer, with an example where there is a body', () => {
    const { responses } = entryOf(id)
    const errors = [...new Set(errorCodesOf(operation).map((code) => String(errorStatus[code])))]
    expect(Object.keys(responses).sort()).toEqual([...new Set([...Object.keys(operation.responses), ...errors])].sort())
    for (const [status, { description, headers, content }] of Object.entries(responses)) {
      expect(description).not.toBe('')
      const own = status.startsWith('3') ? ['Location'] : []
      expect(Object.keys(headers)).toEqual(['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', ...own])
      const hasBody = operation.responses[Number(status)] !== null
      expect({ status, hasBody: content !== undefined }).toEqual({ status, hasBody })
      if (operation.plain && status === '200')
        expect(Object.keys(content ?? {})).toEqual([operation.plain === true ? 'text/plain' : operation.plain])
      else if (content !== undefined)
        expect(content['application/json']).toMatchObject({ schema: expect.anything(), example: expect.anything() })
    }
  })

  test('has examples that are what their schemas say', () => {
    for (const [place, schema] of [...Object.entries(operation.responses), ['body', operation.body] as const]) {
      const problems = schema == null ? [] : createChecker(schema).problemsOf(exampleOf(schema))
      expect({ place, problems }).toEqual({ place, problems: [] })
    }
  })

  test('says nullable only beside a type, as OpenAPI 3.0 knows it', () => {
    const found: string[] = []
    walk(entryOf(id), (key, held, path) => {
      if (typeof held !== 'object' || held === null || path.includes('/example')) return
      if ('nullable' in held && !('type' in held) && !('allOf' in held)) found.push(`${path}/${key}`)
    })
    expect(found).toEqual([])
  })

  test('describes its body, with an example that the server itself would take', async () => {
    const { requestBody } = entryOf(id)
    if (operation.stream !== undefined) return expect(Object.keys(requestBody?.content ?? {})).toEqual([...operation.stream.contentTypes])
    if (operation.body === undefined) return expect(requestBody).toBeUndefined()
    const example = requestBody?.content['application/json']?.example
    const path = operation.path
      .replace(/:key/, 'SOME_KEY')
      .replace(/:request/, '7')
      .replace(/:\w+/g, 'srv-00000000000000000000')
    const reply = await call<{ code?: string }>(server.url + path, { method: operation.method, json: example, token: server.adminToken })
    expect({ status: reply.status, code: reply.body?.code }).not.toMatchObject({ code: 'validation_failed' })
  })
})

function walk(value: unknown, visit: (key: string, held: unknown, path: string) => void, path = ''): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, held] of Object.entries(value)) {
    visit(key, held, path)
    walk(held, visit, `${path}/${key}`)
  }
}
