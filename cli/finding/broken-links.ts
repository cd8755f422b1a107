import { CliError } from '../base/error.ts'

export function orForce(error: unknown): never {
  const isOfLinks = error instanceof CliError && error.code === 'conflict' && error.body.details !== undefined
  if (!isOfLinks) throw error
  throw new CliError(error.code, error.message, {
    ...error.body,
    cause: error,
    hint: 'Give --force to do it nonetheless.',
  })
}
