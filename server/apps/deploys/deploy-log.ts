import { outputFileIn, servicePathsOf } from '../../platform/paths.ts'
import { appendOutput } from '../../telemetry/logs/append-output.ts'
import type { AppContext } from '../context.ts'
import type { StoredDeploy } from './store.ts'

type LoggedDeploy = Pick<StoredDeploy, 'id' | 'serviceId'>

/** What the output of a deploy's build and pre-deploy command is called. */
export const deployOutputName = ({ id }: Pick<StoredDeploy, 'id'>): string => `${id}.build`

/** The build and the platform both append to this file, which is collected like an instance's output. */
export const deployLogPath = (context: Pick<AppContext, 'paths'>, deploy: LoggedDeploy): string =>
  outputFileIn(servicePathsOf(context.paths, deploy.serviceId), deployOutputName(deploy))

export function followDeployLog(context: Pick<AppContext, 'collector' | 'paths'>, deploy: LoggedDeploy): void {
  context.collector.follow({
    path: deployLogPath(context, deploy),
    resource: deploy.serviceId,
    instance: deploy.id,
    deployId: deploy.id,
    type: 'build',
  })
}

export function writeDeployLog(context: Pick<AppContext, 'paths'>, deploy: LoggedDeploy, text: string): void {
  appendOutput(deployLogPath(context, deploy), `==> ${text}\n`)
}

export const closeDeployLog = (context: Pick<AppContext, 'collector' | 'paths'>, deploy: LoggedDeploy): Promise<void> =>
  context.collector.remove(deployLogPath(context, deploy))
