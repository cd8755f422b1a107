import type { TSchema } from '@sinclair/typebox'
import { expect } from 'vitest'
import { createChecker } from '../../server/http/input/validate.ts'
import { idPrefix, instanceIdPattern } from '../../shared/id.ts'
import { isProviderId } from '../../shared/oauth.ts'

/** The schema with every object closed: a key that the table does not name is wrong. */
export function closed(schema: TSchema): TSchema {
  const copy: TSchema = { ...schema }
  if (copy.properties !== undefined) {
    copy.properties = Object.fromEntries(
      Object.entries(schema.properties as Record<string, TSchema>).map(([key, one]) => [key, closed(one)]),
    )
    copy.additionalProperties = false
  }
  if (copy.items !== undefined) copy.items = closed(schema.items as TSchema)
  if (Array.isArray(schema.anyOf)) copy.anyOf = (schema.anyOf as TSchema[]).map(closed)
  return copy
}

/** The body is exactly what the table says, down to the last key. */
export function expectShape(schema: TSchema, body: unknown): void {
  expect(createChecker(closed(schema)).problemsOf(body)).toEqual([])
  expectForms(body, '')
}

const prefixes = Object.values(idPrefix).join('|')
const idForm = new RegExp(`^(?:${prefixes})-[0-9a-v]{20}(?:-[ab])?$`)
const instanceForm = new RegExp(instanceIdPattern)
const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
/** Log lines carry microseconds. */
const logTimeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

/** Every id and every time in a body has its one form, whatever its schema says; an absent time is null or left out, never "". */
function expectForms(value: unknown, path: string): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, held] of Object.entries(value)) {
    // What was asked for, right or wrong.
    if (key === 'metadata') continue
    if (typeof held === 'object') expectForms(held, `${path}/${key}`)
    else if (typeof held === 'string') expectForm(key, held, { path: `${path}/${key}`, isLog: 'message' in value && 'labels' in value })
  }
}

function expectForm(key: string, text: string, { path, isLog }: { path: string; isLog: boolean }): void {
  const context = `${path} is ${JSON.stringify(text)}`
  if (/^(createdAt|updatedAt|startedAt|finishedAt|created_at|expiresAt)$/.test(key)) expect(text, context).toMatch(timeForm)
  if (key === 'timestamp') expect(text, context).toMatch(isLog ? logTimeForm : timeForm)
  if (/^(next(Start|End)Time)$/.test(key)) expect(text, context).toMatch(logTimeForm)
  if (key === 'id' && !isLog)
    expect(idForm.test(text) || instanceForm.test(text) || isProviderId(text) || text === 'static_token', context).toBe(true)
  if (/^(serviceId|deployId|sourceId|ownerId|fromDeployId|toDeployId|rollbackOf)$/.test(key)) expect(text, context).toMatch(idForm)
}
