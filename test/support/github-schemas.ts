import { Ajv } from 'ajv'
import api from '../fixtures/github/api.json'

/** One operation of GitHub's API as its own description has it, out of the npm package that the fixture names. */
export interface GithubOperation {
  method: string
  path: string
  status: number
  /** An answer that the description gives as an example. */
  example: unknown
  /** What an answer or request body has against its schema; undefined where it fits. */
  problemOfAnswer(answer: unknown): string | undefined
  problemOfBody(body: unknown): string | undefined
}

// The description is OpenAPI, which has words beside JSON Schema's, and formats that say nothing of the shape.
const ajv = new Ajv({ strict: false, validateFormats: false, logger: false })

const problemBy = (schema: object | undefined) => {
  if (schema === undefined) return (_: unknown) => undefined
  const validate = ajv.compile({ ...schema, definitions: api.definitions })
  return (value: unknown) => (validate(value) ? undefined : ajv.errorsText(validate.errors))
}

const unlessLeftOut = (isNeeded: boolean, problemOf: ReturnType<typeof problemBy>) => (value: unknown) =>
  value === undefined && !isNeeded ? undefined : problemOf(value)

const operations = api.operations.map(({ method, path, status, example, answer, isBodyNeeded, ...rest }) => ({
  method,
  path,
  status,
  example,
  pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
  problemOfAnswer: problemBy(answer),
  problemOfBody: unlessLeftOut(isBodyNeeded, problemBy('body' in rest ? rest.body : undefined)),
}))

/** The operation that a request is of; a literal path comes before one with parameters. */
export const githubOperation = (method: string, path: string): GithubOperation | undefined =>
  operations.find((one) => one.method === method && one.pattern.test(path))
