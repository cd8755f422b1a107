import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { AppError } from '../../../shared/error.ts'

/** @throws AppError `validation_failed` naming the first place that is wrong; `subject` begins the message. */
export function parseShape<T extends TSchema>(schema: T, value: unknown, subject: string): Static<T> {
  if (Value.Check(schema, value)) return value
  const first = Value.Errors(schema, value).First()
  throw new AppError('validation_failed', `${subject} not valid at ${first?.path || '/'}: ${first?.message ?? 'wrong shape'}`)
}
