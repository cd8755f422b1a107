import { createInterface } from 'node:readline/promises'
import { AppError } from '../../../shared/error.ts'

/** @throws AppError bad_request where nobody sits at a terminal. */
export async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new AppError('bad_request', 'There is nobody to ask. Confirm with --yes.')
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question(`${question} [y/N] `)
  terminal.close()
  return /^y(es)?$/i.test(answer.trim())
}
