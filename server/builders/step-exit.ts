import { AppError } from '../../shared/error.ts'
import type { StepExit } from './port.ts'

/** @throws AppError `bad_request` saying to people which step failed and how. */
export function requireSuccess({ command }: { command: string }, exit: StepExit): void {
  if (exit.exitCode !== 0) throw new AppError('bad_request', describeFailure(firstLine(command), exit))
}

function describeFailure(command: string, exit: StepExit): string {
  const { memoryRemedy = 'choose a larger build plan' } = exit
  if (exit.timedOut) return `Build failed: ${command} took longer than a build may take`
  if (exit.oomKilled) return `Build failed: ${command} ran out of memory and was killed; ${memoryRemedy}`
  if (wasAborted(exit)) return `Build failed: ${command} was aborted, as Node.js is when its heap is full; ${memoryRemedy}`
  const how = exit.exitCode === null ? `was ended by ${exit.signal ?? 'a signal'}` : `exited with ${exit.exitCode}`
  return `Build failed: ${command} ${how}; see the build log`
}

/** By SIGABRT, which a shell tells as 128 + 6. */
const wasAborted = ({ exitCode, signal }: StepExit): boolean => signal === 'SIGABRT' || exitCode === 134

const SHOWN_COMMAND_LENGTH = 200

export function firstLine(command: string): string {
  const line = command.split('\n', 1)[0] ?? ''
  return line.length > SHOWN_COMMAND_LENGTH || line !== command ? `${line.slice(0, SHOWN_COMMAND_LENGTH)} …` : line
}
