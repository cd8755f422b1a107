import type { TSchema } from '@sinclair/typebox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OperationId, operationIds, operationOf } from '../../shared/operations/all.ts'
import type { CallOptions } from '../support/client.ts'
import { call, cookieOf } from '../support/client.ts'
import { defaultWorkspaceId } from '../support/members.ts'
import { startTestServer, type TestServer, testAdmin } from '../support/server.ts'
import { expectError } from './expect-error.ts'
import { type PathIds, requestOf } from './requests.ts'

let server: TestServer
/** Others' workspaces are refused at the door, before any body is read. */
let ownIds: PathIds
/** The administrator's session: some bodies are taken from people only. */
let session: CallOptions
beforeAll(async () => {
  server = await startTestServer({ env: { CP_LOGIN_LIMIT: '100000' } })
  ownIds = { ownerId: await defaultWorkspaceId(server) }
  const cookie = cookieOf(await call(`${server.url}/v1/auth/login`, { json: testAdmin }))
  session = { cookie, headers: { origin: server.url } }
})
afterAll(() => server.close())

const json = { 'content-type': 'application/json' }
// What the pages of others send may hold more than we know; their answers are tried in server/oauth.
const withBody = operationIds.filter((id) => operationOf(id).body !== undefined && !operationOf(id).isCrossSite)

function credential(id: OperationId): CallOptions {
  const { access, usersOnly } = operationOf(id)
  if (usersOnly) return session
  return access === 'public' ? {} : { token: server.adminToken }
}

const send = (id: OperationId, options: CallOptions) => {
  const { path, options: base } = requestOf(id, ownIds)
  const held = credential(id)
  return call(server.url + path, { method: base.method ?? 'POST', ...held, ...options, headers: { ...held.headers, ...options.headers } })
}

/** Bodies that may be larger than others, in MiB. */
const largeBodies: Partial<Record<OperationId, number>> = {
  createService: 32,
  replaceEnvVars: 32,
  replaceSecretFiles: 32,
  createEnvGroup: 32,
  replaceGroupEnvVars: 2,
  setGroupSecretFile: 4,
}

describe.each(withBody)('the body of %s', (id) => {
  const { body: schema, bodyOptional } = operationOf(id)
  const example = requestOf(id).options.json

  test('is refused when it is broken, of another type, missing or too deep', async () => {
    expectError(await send(id, { raw: '{"broken":', headers: json }), 'bad_request')
    const form = await send(id, { raw: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } })
    expectError(form, operationOf(id).form ? 'validation_failed' : 'unsupported_media_type')
    expectError(await send(id, { raw: JSON.stringify(example), headers: { 'content-type': 'text/plain' } }), 'unsupported_media_type')
    expectError(await send(id, { raw: '['.repeat(100_000), headers: json }), 'bad_request')
    if (!bodyOptional) expectError(await send(id, {}), 'bad_request')
  })

  test('is refused when it is too large', async () => {
    const raw = new Uint8Array((largeBodies[id] ?? 1) * 1024 * 1024 + 1).fill(32)
    expectError(await send(id, { raw, headers: json }), 'payload_too_large')
  })

  test('is refused by JSON pointer where a key is unknown, at every depth', async () => {
    for (const { pointer, body } of withUnknownKeys(schema as TSchema, example)) {
      const { details = [], message } = expectError(await send(id, { json: body }), 'validation_failed')
      expect({ pointer, details: details.map(({ path }) => path) }).toEqual({ pointer, details: [pointer] })
      expect(message).toContain('unheard_of')
    }
  })

  test('is refused by JSON pointer where a value is of the wrong type', async () => {
    for (const { pointer, body } of withWrongTypes(schema as TSchema, example)) {
      const { details = [] } = expectError(await send(id, { json: body }), 'validation_failed')
      expect({ pointer, isNamed: details.some(({ path }) => path === pointer) }).toEqual({ pointer, isNamed: true })
    }
  })
})

const unsupported = withBody.flatMap((id) => unsupportedFields(operationOf(id).body as TSchema).map((field) => ({ id, ...field })))

test('the fields that are known but not supported are found', () => {
  const named = unsupported.map(({ id, pointer }) => `${id} ${pointer}`)
  expect(named).toEqual(
    expect.arrayContaining(['createService /image', 'updateService /serviceDetails/autoscaling', 'createDeploy /imageUrl']),
  )
})

describe.each(unsupported)('$id $pointer is known but not supported', ({ id, pointer, keys, neutral }) => {
  const bodyWith = (value: unknown) => ({ ...(requestOf(id).options.json as object), ...nested(keys, value) })

  test('and refused by name when it asks for something', async () => {
    for (const value of ['something', 7, true, ['x'], { deep: { value: 'x' } }]) {
      const { details = [], message } = expectError(await send(id, { json: bodyWith(value) }), 'validation_failed')
      expect(details.map(({ path }) => path)).toEqual([pointer])
      expect(message).toContain(pointer)
    }
  })

  test('and taken with a neutral value', async () => {
    for (const value of ['', null, {}, [], false, ...neutral]) {
      const reply = await send(id, { json: bodyWith(value) })
      // What comes after validation may still say no: the ids are unknown, the name is taken, the password is wrong.
      expect({ value, status: reply.status, body: reply.body }).not.toMatchObject({ status: 400 })
    }
  })
})

interface Spoiled {
  pointer: string
  body: unknown
}

/** The example with a key that no object has, put into each object of the schema in turn. */
function withUnknownKeys(schema: TSchema, example: unknown): Spoiled[] {
  if (schema.type === 'array') {
    return [{ pointer: '/0/unheard_of', body: [{ ...((example as unknown[])[0] as object), unheard_of: 1 }] }]
  }
  const inner = Object.entries(schema.properties as Record<string, TSchema>).filter(([, property]) => property.type === 'object')
  return [
    { pointer: '/unheard_of', body: { ...(example as object), unheard_of: 1 } },
    ...inner.map(([key]) => ({ pointer: `/${key}/unheard_of`, body: { ...(example as object), ...nested([key], { unheard_of: 1 }) } })),
  ]
}

/** The example with each property of the schema in turn holding what its type is not. */
function withWrongTypes(schema: TSchema, example: unknown): Spoiled[] {
  if (schema.type === 'array') {
    const item = schema.items as TSchema
    const [first] = example as unknown[]
    return [
      { pointer: '', body: { a: 1 } },
      ...withWrongTypes(item, first).map(({ pointer, body }) => ({ pointer: `/0${pointer}`, body: [body] })),
    ]
  }
  const properties = Object.entries(schema.properties as Record<string, TSchema>).filter(
    ([, property]) => property['x-unsupported'] !== true,
  )
  return [
    { pointer: '', body: [example] },
    { pointer: '', body: 'text' },
    ...properties.map(([key, property]) => ({ pointer: `/${key}`, body: { ...(example as object), [key]: wrongFor(property) } })),
  ]
}

const wrongFor = ({ type, anyOf }: TSchema): unknown =>
  type === 'string' || (anyOf as TSchema[] | undefined)?.some((one) => one.type === 'string') ? { an: 'object' } : 'text'

/** Every field of a body that stands there for clients of another platform, one level deep as well. */
function unsupportedFields(schema: TSchema, keys: string[] = []): { pointer: string; keys: string[]; neutral: unknown[] }[] {
  return Object.entries((schema.properties ?? {}) as Record<string, TSchema>).flatMap(([key, property]) => {
    const path = [...keys, key]
    if (property['x-unsupported'] === true)
      return [{ pointer: `/${path.join('/')}`, keys: path, neutral: property['x-neutral'] as unknown[] }]
    return unsupportedFields(property, path)
  })
}

const nested = (keys: string[], value: unknown): Record<string, unknown> => {
  const [first = '', ...rest] = keys
  return { [first]: rest.length === 0 ? value : nested(rest, value) }
}
