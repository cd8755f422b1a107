import type { TSchema } from '@sinclair/typebox'
import { AppError, type ErrorDetail } from '../../../shared/error.ts'
import { withoutNulls } from '../../../shared/null-fields.ts'
import type { Operation } from '../../../shared/operation.ts'
import { readFormOrJson } from './form-body.ts'
import { type BodyLimits, readJsonBody } from './json-body.ts'
import { createQueryReader } from './query.ts'
import { type Checker, createChecker } from './validate.ts'

export interface InputReader {
  query(url: string): Record<string, unknown>
  workspaceIds(request: Request, params: Record<string, unknown>, query: Record<string, unknown>): string[]
  /** @throws AppError `validation_failed` naming what is wrong in path or query. */
  check(params: Record<string, unknown>, query: Record<string, unknown>): void
  body(request: Request): Promise<unknown>
}

export function createInputReader(operation: Operation, limits: BodyLimits): InputReader {
  const readQuery = operation.query === undefined ? undefined : createQueryReader(operation.query)
  const checkParams = checkerOf(operation.params)
  const checkQuery = checkerOf(operation.query)
  const checkBody = checkerOf(operation.body)
  return {
    query: (url) => readQuery?.(url) ?? {},
    workspaceIds(request, params, query) {
      const named: string[] = []
      for (const id of [params.ownerId, request.headers.get('x-workspace-id')]) if (typeof id === 'string') named.push(id)
      if (query.ownerId !== undefined) named.push(...[query.ownerId].flat().filter((id) => typeof id === 'string'))
      return named
    },
    check(params, query) {
      if (Object.values(params).some((value) => typeof value !== 'string')) {
        throw new AppError('bad_request', 'The path is not valid percent-encoded UTF-8.')
      }
      refuse(checkParams, params)
      refuse(checkQuery, query)
    },
    async body(request) {
      if (checkBody === undefined) return undefined
      const body = operation.form ? await readFormOrJson(request, limits) : await readJsonBody(request, limits)
      if (body === undefined && operation.bodyOptional) return undefined
      if (body === undefined) throw new AppError('bad_request', 'This operation needs a JSON body.')
      const given = withoutNulls(operation.body as TSchema, body)
      refuse(checkBody, given)
      return given
    },
  }
}

export function workspaceOfBody(body: unknown): string[] {
  const ownerId = typeof body === 'object' && body !== null && 'ownerId' in body ? body.ownerId : undefined
  return typeof ownerId === 'string' ? [ownerId] : []
}

const checkerOf = (schema: TSchema | undefined): Checker | undefined => (schema === undefined ? undefined : createChecker(schema))

function refuse(checker: Checker | undefined, value: unknown): void {
  const details = checker?.problemsOf(value) ?? []
  if (details.length > 0) throw new AppError('validation_failed', sentenceOf(details), { details })
}

function sentenceOf(details: ErrorDetail[]): string {
  const [first = { path: '', message: '' }] = details
  const more = details.length > 1 ? ` (and ${details.length - 1} more, see details)` : ''
  return `${first.path === '' ? 'The body' : first.path} ${first.message}${more}.`
}
