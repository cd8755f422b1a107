import type { ShellQuery } from '../../../shared/shell.ts'
import { defaultShellSize, defaultTerminalName } from '../../../shared/shell.ts'
import type { OpenTerminal } from '../../engines/port/port.ts'
import type { AppContext } from '../context.ts'
import { diskOfService } from '../disks/store.ts'
import { volumeOf } from '../disks/workload.ts'
import { awaken } from '../instances/sleep.ts'
import { workloadIn } from '../launch/launch.ts'
import type { StoredService } from '../services/store.ts'
import { promptEnv } from './prompt.ts'
import type { ShellTarget } from './target.ts'

/** Interactive because a terminal is its input; a login shell would forget the PATH that the release was built with. */
const DEFAULT_COMMAND = 'command -v bash >/dev/null 2>&1 && exec bash; exec sh'

export interface ShellOpening {
  shellId: string
  service: StoredService
  target: ShellTarget
  query: ShellQuery
  onOutput(bytes: Uint8Array): void
}

export async function openShellTerminal(context: AppContext, opening: ShellOpening): Promise<OpenTerminal> {
  const { shellId, service, target, query, onOutput } = opening
  const { release, instance } = target
  // In the surroundings of frozen processes it would be frozen, too.
  if (instance !== undefined) await awaken(context, service.id, 'shell')
  const workload = workloadIn(context, {
    service,
    release,
    workload: {
      id: instance?.id ?? shellId,
      deployId: instance?.deployId ?? service.liveDeployId ?? '',
      command: query.command ?? DEFAULT_COMMAND,
    },
  })
  const disk = instance && diskOfService(context.db, service.id)
  return await context.engine.openTerminal({
    ...workload,
    ...(disk && volumeOf(disk)),
    terminalId: shellId,
    env: (view) => ({
      ...workload.env(view),
      ...(instance && { PORT: String(instance.port) }),
      TERM: query.term ?? defaultTerminalName,
      ...(query.command === undefined && promptEnv(service, view.root)),
    }),
    columns: query.columns ?? defaultShellSize.columns,
    rows: query.rows ?? defaultShellSize.rows,
    ...(instance && { joins: instance.id }),
    onOutput,
  })
}
