import { CliError, usageError } from '../base/error.ts'
import type { Context } from './context.ts'
import { ask } from './prompt.ts'

/** How the server says that the account has two-factor sign-in and wants a code as well. */
const isCodeWanted = (error: unknown): boolean =>
  error instanceof CliError && error.code === 'unauthorized' && error.body.details?.some(({ path }) => path === '/otp') === true

/** Signs in with the code that was given, and asks for one only when the server wants it. */
export async function withCode<T>(
  context: Context,
  given: string | undefined,
  signIn: (otp: string | undefined) => Promise<T>,
): Promise<T> {
  try {
    return await signIn(given)
  } catch (error) {
    if (given !== undefined || !isCodeWanted(error)) throw error
    return await signIn(await askCode(context, 'Code of your authenticator app, or a recovery code:'))
  }
}

export async function askCode(context: Context, text: string): Promise<string> {
  const code = (await ask(context, { text, instead: 'Give the code with --otp.' })).trim()
  if (code === '') throw usageError('The code must not be empty.')
  return code
}
