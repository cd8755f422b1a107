import { AppError } from '../../../shared/error.ts'
import type { OpenTerminal } from '../port/port.ts'
import type { TerminalSpec } from '../port/workload.ts'
import type { FakeMachine, Run } from './machine.ts'
import { workloadOf } from './workload.ts'

/** A program whose output goes to whoever opened it, and which ends with them. */
export function openFakeTerminal(machine: FakeMachine, spec: TerminalSpec): { terminal: OpenTerminal; run: Run } {
  const { runs } = machine
  const joined = spec.joins === undefined ? undefined : runs.get(spec.joins)
  if (spec.joins !== undefined && (joined === undefined || joined.end !== undefined))
    throw new AppError('not_found', `Instance ${spec.joins} does not run`)
  let held: Uint8Array[] | undefined
  const run = machine.begin({
    ...workloadOf(spec, { id: spec.terminalId, kind: 'terminal' }),
    onOutput: (bytes) => (held === undefined ? spec.onOutput(bytes) : void held.push(bytes)),
  })
  void joined?.ended.then(() => run.program.kill('SIGKILL'))
  const resume = () => {
    for (const bytes of held ?? []) spec.onOutput(bytes)
    held = undefined
  }
  const ended = run.ended.then((end) => {
    resume()
    runs.delete(spec.terminalId)
    return end
  })
  const terminal: OpenTerminal = {
    ended,
    write: async (bytes) => run.program.type(bytes),
    pause: () => {
      held ??= []
    },
    resume,
    resize: () => {},
    close: async () => {
      run.program.kill('SIGHUP')
      await ended
    },
  }
  return { terminal, run }
}
