import { operationOf } from '../../shared/operations/all.ts'
import { type JobTerminalQuery, type ShellQuery, terminalNamePattern } from '../../shared/shell.ts'
import { pathOf } from '../api/request.ts'
import { CliError, RemoteExit } from '../base/error.ts'
import type { Context } from '../session/context.ts'
import type { Io } from '../session/io.ts'
import { OUTPUT_WINDOW_BYTES, runShell } from './session.ts'

interface OnTerminal {
  openShell: ShellQuery
  openJobTerminal: JobTerminalQuery
}

interface Input<Id extends keyof OnTerminal> {
  params: { serviceId: string }
  query: OnTerminal[Id]
}

export function terminalQuery({
  env,
  terminal,
}: Pick<Io, 'env' | 'terminal'>): Pick<ShellQuery, 'columns' | 'rows' | 'term' | 'outputWindow'> {
  const { TERM: term = '' } = env
  return { ...terminal.size(), ...(new RegExp(terminalNamePattern).test(term) && { term }), outputWindow: OUTPUT_WINDOW_BYTES }
}

/** Ties this terminal to a command on the server. @throws RemoteExit with its exit code; CliError when it was refused or left. */
export async function runOnTerminal<Id extends keyof OnTerminal>(context: Context, id: Id, input: Input<Id>): Promise<never> {
  const { client, io } = context
  const target = await client.target()
  const outcome = await runShell({ target, path: pathOf(operationOf(id), input), terminal: io.terminal, signal: io.interrupted })
  if (outcome.kind === 'exited') throw new RemoteExit(outcome)
  if (outcome.kind === 'left') throw new CliError('unavailable', 'You left the shell. What ran in it is being ended.')
  return await tellRefusal(() => client.call(id, input as never), outcome.status)
}

/** A refused WebSocket tells a status and no reason: the same request without one is told it. */
async function tellRefusal(ask: () => Promise<unknown>, status: number | undefined): Promise<never> {
  try {
    await ask()
  } catch (error) {
    if (!(error instanceof CliError && error.code === 'bad_request')) throw error
  }
  throw new CliError('unavailable', `The server refuses to open a WebSocket${status === undefined ? '' : ` (${status})`}.`, {
    hint: 'If a proxy stands before it, let WebSockets pass through it.',
  })
}
