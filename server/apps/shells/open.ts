import type { ShellQuery } from '../../../shared/shell.ts'
import { defaultShellSize, defaultTerminalName } from '../../../shared/shell.ts'
import { commandIn } from '../../builders/plan.ts'
import type { OpenTerminal } from '../../engines/port/port.ts'
import type { AppContext } from '../context.ts'
import { artifactDir } from '../deploys/release-store.ts'
import { diskEnv } from '../disks/workload.ts'
import { awaken } from '../instances/sleep.ts'
import { instanceEnv, limitsOf, prepareSecrets, sandboxOf } from '../launch/launch.ts'
import { ensureServiceFolders } from '../services/folders.ts'
import type { StoredService } from '../services/store.ts'
import { promptEnv } from './prompt.ts'
import type { ShellTarget } from './target.ts'

/** Interactive because a terminal is its input; a login shell would forget the PATH that the release was built with. */
const DEFAULT_COMMAND = 'command -v bash >/dev/null 2>&1 && exec bash; exec sh'

/** Nothing listens in a shell of its own, but what reads PORT must find a number. */
const NO_PORT = 0

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
  await ensureServiceFolders(context.paths, service)
  const secretsDir = await prepareSecrets(context, { service, release })
  const cwd = artifactDir(context.paths, release)
  const facts = {
    port: instance?.port ?? NO_PORT,
    instanceId: instance?.id ?? shellId,
    deployId: instance?.deployId ?? service.liveDeployId ?? '',
    secretsDir,
  }
  return await context.engine.openTerminal({
    taskId: shellId,
    command: commandIn(release.launch.appDir, query.command ?? DEFAULT_COMMAND),
    cwd,
    env: {
      ...instanceEnv(context, { service, release, facts }),
      ...(instance && diskEnv(context, service.id)),
      TERM: query.term ?? defaultTerminalName,
      ...(query.command === undefined && promptEnv(service, cwd)),
    },
    sandbox: { ...sandboxOf(context, service, [...release.launch.readOnlyBinds, cwd, secretsDir]), layerOver: cwd },
    limits: limitsOf(release.settings.plan),
    columns: query.columns ?? defaultShellSize.columns,
    rows: query.rows ?? defaultShellSize.rows,
    ...(instance && { joins: instance.id }),
    onOutput,
  })
}
