/**
 * Writes down what GitHub's own description says of the operations that we ask for, which the tests check their stand-in by. The whole of
 * it takes 400 MB of node_modules, so that it is no dependency: `npm pack @octokit/openapi`, unpack it, and give
 * `generated/api.github.com.json` as the argument.
 */
import { writeFileSync } from 'node:fs'

const repository = '/repos/{owner}/{repo}'
const wanted = [
  'POST /app-manifests/{code}/conversions',
  'GET /app',
  'GET /user',
  'GET /user/installations',
  'GET /user/memberships/orgs/{org}',
  'POST /app/installations/{installation_id}/access_tokens',
  'GET /installation/repositories',
  `GET ${repository}`,
  `GET ${repository}/commits/{ref}/status`,
  `GET ${repository}/commits/{ref}/check-runs`,
  `POST ${repository}/statuses/{sha}`,
  `GET ${repository}/deployments`,
  `POST ${repository}/deployments`,
  `POST ${repository}/deployments/{deployment_id}/statuses`,
  `GET ${repository}/pulls`,
  `GET ${repository}/pulls/{pull_number}`,
  `GET ${repository}/issues/{issue_number}/comments`,
  `POST ${repository}/issues/{issue_number}/comments`,
  `PATCH ${repository}/issues/comments/{comment_id}`,
]

type Json = Record<string, unknown>

const said = new Set(['description', 'example', 'examples', 'title', 'externalDocs', 'deprecated', 'readOnly', 'nullable'])
const whole = (await Bun.file(Bun.argv[2] ?? '').json()) as Json
const definitions: Json = {}

const at = (value: unknown, ...path: string[]): unknown => path.reduce((inner, name) => (inner as Json | undefined)?.[name], value)
const pointed = (ref: string): unknown => at(whole, ...ref.slice(2).split('/'))
const followed = (value: unknown): unknown => (typeof at(value, '$ref') === 'string' ? pointed(String(at(value, '$ref'))) : value)

/** A schema of OpenAPI as JSON Schema: what may be null says so by a type. */
function schemaOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(schemaOf)
  if (typeof value !== 'object' || value === null) return value
  const { $ref: ref, nullable, properties, ...rest } = value as Json
  if (typeof ref === 'string') return { $ref: `#/definitions/${defined(ref)}` }
  const kept = Object.entries(rest).filter(([name]) => !said.has(name) && !name.startsWith('x-'))
  const schema: Json = Object.fromEntries(kept.map(([name, inner]) => [name, schemaOf(inner)]))
  if (typeof properties === 'object' && properties !== null)
    schema.properties = Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, schemaOf(inner)]))
  return nullable === true ? { anyOf: [schema, { type: 'null' }] } : schema
}

function defined(ref: string): string {
  const name = ref.split('/').at(-1) ?? ''
  if (!(name in definitions)) {
    definitions[name] = {}
    definitions[name] = schemaOf(pointed(ref))
  }
  return name
}

const operations = wanted.map((one) => {
  const [method = '', path = ''] = one.split(' ')
  const operation = at(whole, 'paths', path, method.toLowerCase())
  const responses = Object.entries(at(operation, 'responses') as Json).map(([status, response]) => ({
    status,
    response: followed(response),
  }))
  const good = responses.find(({ status, response }) => status.startsWith('2') && at(response, 'content') !== undefined)
  const content = at(good?.response, 'content', 'application/json')
  const example = at(followed(Object.values((at(content, 'examples') as Json | undefined) ?? {})[0]), 'value')
  const body = at(operation, 'requestBody', 'content', 'application/json', 'schema')
  const answer = schemaOf(at(content, 'schema'))
  const isBodyNeeded = at(operation, 'requestBody', 'required') === true
  const told = body === undefined ? {} : { body: schemaOf(body) }
  return { method, path, status: Number(good?.status), answer, example, isBodyNeeded, ...told }
})

writeFileSync('test/fixtures/github/api.json', JSON.stringify({ package: '@octokit/openapi 23.0.2', operations, definitions }, null, 1))
