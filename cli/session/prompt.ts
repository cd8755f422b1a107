import { usageError } from '../base/error.ts'
import { cleanText } from '../terminal/text.ts'
import type { Context } from './context.ts'

interface Prompt {
  text: string
  isHidden?: true
  instead: string
}

/** Asks on the terminal. @throws CliError with the usage exit code where there is none. */
export async function ask({ io }: Pick<Context, 'io'>, { text, isHidden, instead }: Prompt): Promise<string> {
  if (!io.stdin.isTty) throw usageError(`Cannot ask for input: standard input is not a terminal.`, instead)
  return io.stdin.line({ text: cleanText(text), isHidden: isHidden === true })
}

/** Has the name typed before something is lost. `isConfirmed` is the answer given beforehand with --yes. */
export async function confirmByName(context: Pick<Context, 'io'>, name: string, isConfirmed: boolean): Promise<void> {
  if (isConfirmed) return
  const typed = await ask(context, { text: `Type ${name} to confirm:`, instead: 'Give --yes to confirm.' })
  if (typed.trim() !== name) throw usageError('The name does not match: nothing was done.')
}

export async function piped({ io }: Context, option: string): Promise<string> {
  if (io.stdin.isTty) throw usageError(`${option} reads from a pipe, and standard input is a terminal.`, `Leave out ${option} to be asked.`)
  return io.stdin.text()
}
