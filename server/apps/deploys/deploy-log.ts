import type { LogLine } from '../../telemetry/logs/line.ts'
import type { LoggedOutput } from '../../telemetry/logs/outputs.ts'
import type { AppContext } from '../context.ts'
import type { StoredDeploy } from './store.ts'

/** The log of a deploy is the output of its build and pre-deploy command, and what the platform remarks meanwhile. */
type LoggedDeploy = Pick<StoredDeploy, 'id' | 'serviceId'>
type Writer = Pick<AppContext, 'outputLogs'>

const BUILD = '.build'

export const deployOutputName = ({ id }: Pick<StoredDeploy, 'id'>): string => `${id}${BUILD}`

export const deployOfOutput = (name: string): string | undefined => (name.endsWith(BUILD) ? name.slice(0, -BUILD.length) : undefined)

const outputOf = ({ id, serviceId }: LoggedDeploy): LoggedOutput => ({
  ownerId: serviceId,
  name: deployOutputName({ id }),
  instance: id,
  deployId: id,
  type: 'build',
})

export const followDeployLog = ({ outputLogs }: Writer, deploy: LoggedDeploy): void => outputLogs.follow(outputOf(deploy))

/** Writes what begins with the mark of the platform; further lines of the text stand below it. */
export const writeDeployLog = (writer: Writer, deploy: LoggedDeploy, text: string): void => writeDeployLines(writer, deploy, `==> ${text}`)

export const writeDeployLines = ({ outputLogs }: Writer, deploy: LoggedDeploy, text: string): void =>
  outputLogs.remark(outputOf(deploy), text)

/** Resolves when all that the platform wrote so far stands in the log, so that what runs next writes below it. */
export const deployLogWritten = ({ outputLogs }: Writer, deploy: LoggedDeploy): Promise<void> => outputLogs.remarked(outputOf(deploy))

export const newestOfDeployLog = ({ outputLogs }: Writer, deploy: LoggedDeploy, count: number): Promise<LogLine[]> =>
  outputLogs.newestLines(outputOf(deploy), count)

export const closeDeployLog = ({ outputLogs }: Writer, deploy: LoggedDeploy): Promise<void> => outputLogs.close(outputOf(deploy))
