import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operationIds, operationOf } from '../../shared/api.ts'
import { errorStatus } from '../../shared/error.ts'
import { call } from '../support/client.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { expectConventions } from './expect-error.ts'

type Json = Record<string, unknown>
interface Entry extends Json {
  operationId: string
  parameters: { name: string; in: string; required: boolean; schema: Json }[]
  responses: Record<string, { description: string; content?: Record<string, { schema: Json; example?: unknown }> }>
  requestBody?: { content: Record<string, { schema: Json; example?: unknown }> }
  security: Json[]
}
interface Document extends Json {
  paths: Record<string, Record<string, Entry>>
  components: Record<string, Json>
}

let server: TestServer
let document: Document
beforeAll(async () => {
  server = await startTestServer()
  document = (await call<Document>(`${server.url}/docs/json`)).body
})
afterAll(() => server.close())

const entryOf = (id: (typeof operationIds)[number]): Entry => {
  const { path, method } = operationOf(id)
  const entry = document.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
  if (entry === undefined) throw new Error(`${id} is not in the document`)
  return entry
}

/** Calls `visit` with every object inside a value. */
function walk(value: unknown, visit: (object: Json, path: string) => void, path = ''): void {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) visit(value as Json, path)
  for (const [key, inner] of Object.entries(value)) walk(inner, visit, `${path}/${key}`)
}

describe.each(operationIds)('%s in the document', (id) => {
  const operation = operationOf(id)

  test('says what it does and who may call it', () => {
    const entry = entryOf(id)
    expect(entry.operationId).toBe(id)
    expect(entry.summary).toBe(operation.summary)
    expect(String(entry.description).length).toBeGreaterThan(10)
    expect(entry.tags).toEqual([operation.tag])
    expect(entry['x-permission']).toBe(operation.access)
    expect(entry.security).toEqual(operation.access === 'public' ? [] : [{ bearer: [] }, { session: [] }])
  })

  test('names its parameters, each once', () => {
    const { parameters } = entryOf(id)
    const names = parameters.map((parameter) => `${parameter.in} ${parameter.name}`)
    expect(new Set(names).size).toBe(names.length)
    for (const [, name] of operation.path.matchAll(/:(\w+)/g)) expect(names).toContain(`path ${name}`)
    for (const name of Object.keys(operation.query?.properties ?? {})) expect(names).toContain(`query ${name}`)
    expect(names.includes('header Idempotency-Key')).toBe(operation.creates === true)
    for (const parameter of parameters) expect(parameter.required || parameter.in !== 'path').toBe(true)
  })

  test('shows its body with an example, or its content types', () => {
    const { requestBody } = entryOf(id)
    expect(requestBody === undefined).toBe(operation.body === undefined && operation.stream === undefined)
    if (operation.stream) expect(Object.keys(requestBody?.content ?? {})).toEqual([...operation.stream.contentTypes])
    else if (requestBody) expect(requestBody.content['application/json']?.example).toBeDefined()
  })

  test('shows every success and every error it can answer with', () => {
    const { responses } = entryOf(id)
    for (const [status, schema] of Object.entries(operation.responses)) {
      expect(responses[status]?.description).not.toBe('')
      expect(responses[status]?.content === undefined).toBe(schema === null)
    }
    for (const code of operation.errors ?? []) expect(Object.keys(responses)).toContain(String(errorStatus[code]))
    if (operation.access !== 'public')
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['400', '401', '403', '404', '429', '500']))
    for (const [status, response] of Object.entries(responses)) {
      if (Number(status) >= 400 && !(status in operation.responses)) {
        expect(response.content?.['application/json']?.schema).toEqual({ $ref: '#/components/schemas/Error' })
      }
    }
  })
})

describe('the document', () => {
  test('is OpenAPI 3.0 and holds nothing but the table', () => {
    expect(document.openapi).toMatch(/^3\.0\.\d$/)
    const entries = Object.values(document.paths).flatMap((path) => Object.values(path))
    expect(entries.map(({ operationId }) => operationId).sort()).toEqual([...operationIds].sort())
    expect(document.servers).toEqual([{ url: '/' }])
  })

  test('refers to nothing that is not there', () => {
    walk(document, ({ $ref }) => {
      if ($ref === undefined) return
      const [, , kind = '', name = ''] = String($ref).split('/')
      expect(document.components[kind]?.[name], String($ref)).toBeDefined()
    })
  })

  test('uses no keyword that OpenAPI 3.0 does not know', () => {
    walk({ paths: document.paths, components: document.components }, (object, path) => {
      if (path.includes('/example') || path.includes('/properties')) return
      for (const keyword of ['const', 'patternProperties', '$id', 'examples'])
        expect(object, `${path} ${keyword}`).not.toHaveProperty(keyword)
      expect(object.type, path).not.toBe('null')
    })
  })
})

describe('the page', () => {
  test('comes whole from here, under a policy that lets nothing else in', async () => {
    const page = await call<string>(`${server.url}/docs`)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("script-src 'self';")
    expect(policy).toContain("connect-src 'self';")
    expect(page.body).not.toMatch(/https?:\/\//)
    expect(page.body).not.toMatch(/<script>| on[a-z]+=/)
    for (const [, asset = ''] of page.body.matchAll(/(?:src|href)="([^"]+)"/g)) {
      const reply = await call<string>(server.url + asset)
      expect(reply.status).toBe(200)
      expect(reply.headers.get('content-type')).toMatch(/^text\/(javascript|css); charset=utf-8$/)
      expectConventions(reply)
    }
  })
})
