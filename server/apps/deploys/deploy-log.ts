import { outputFileIn, servicePathsOf } from '../../platform/paths.ts'
import { appendOutput } from '../../telemetry/logs/append-output.ts'
import type { LoggedOutput } from '../../telemetry/logs/outputs.ts'
import type { AppContext } from '../context.ts'
import type { StoredDeploy } from './store.ts'

type LoggedDeploy = Pick<StoredDeploy, 'id' | 'serviceId'>

const BUILD = '.build'

/** What the output of a deploy's build and pre-deploy command is called. */
export const deployOutputName = ({ id }: Pick<StoredDeploy, 'id'>): string => `${id}${BUILD}`

/** The deploy whose output is called so, or undefined for an output of something else. */
export const deployOfOutput = (name: string): string | undefined => (name.endsWith(BUILD) ? name.slice(0, -BUILD.length) : undefined)

/** The build and the platform both append to this file, which is collected like an instance's output. */
export const deployLogPath = (context: Pick<AppContext, 'paths'>, deploy: LoggedDeploy): string =>
  outputFileIn(servicePathsOf(context.paths, deploy.serviceId), deployOutputName(deploy))

const outputOf = ({ id, serviceId }: LoggedDeploy): LoggedOutput => ({
  serviceId,
  name: deployOutputName({ id }),
  instance: id,
  deployId: id,
  type: 'build',
})

export const followDeployLog = ({ outputLogs }: Pick<AppContext, 'outputLogs'>, deploy: LoggedDeploy): void =>
  outputLogs.follow(outputOf(deploy))

export function writeDeployLog(context: Pick<AppContext, 'paths'>, deploy: LoggedDeploy, text: string): void {
  appendOutput(deployLogPath(context, deploy), `==> ${text}\n`)
}

export const closeDeployLog = ({ outputLogs }: Pick<AppContext, 'outputLogs'>, deploy: LoggedDeploy): Promise<void> =>
  outputLogs.close(outputOf(deploy))
