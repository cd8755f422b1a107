import { type Deploy, type DeployStatus, isDeployRunning } from '../../shared/deploy.ts'
import type { Service } from '../../shared/service.ts'
import { traitsOf } from '../../shared/service-type.ts'
import { CliError, Interrupted } from '../base/error.ts'
import { formatTook } from '../base/figures.ts'
import type { Context } from '../session/context.ts'
import { clean, cleanText } from '../terminal/text.ts'
import { type PollOptions, pollDeploy, watchDeploy } from './watch.ts'

interface Started {
  service: Service
  deployId: string
  isDetached: boolean
  /** Wait until the new release is no longer watched, too. */
  untilProven?: boolean
}

/** Follows a deploy that was just started to its end. @throws CliError when it did not become live, with the reason. */
export async function awaitDeploy(context: Context, { service, deployId, isDetached, untilProven = false }: Started): Promise<void> {
  const { client, io, isJson } = context
  const params = { serviceId: service.id, deployId }
  if (isDetached) {
    if (isJson) context.printJson(await client.call('getDeploy', { params }))
    else context.print(clean`Started deploy ${deployId} of ${service.name}.`)
    return
  }
  const tell = (line: string) => {
    if (!isJson) context.print(line)
  }
  if (!isJson) context.note(clean`Deploying ${service.name} (${deployId})`)
  if (!isJson && service.serviceDetails.deployStrategy === 'stop_first')
    context.note('Stop-first, as it has a disk: the service is away while the new release takes the place of the old one.')
  const polled: PollOptions = {
    client,
    ...params,
    onStatus: (status) => {
      if (!isJson && isDeployRunning(status)) context.note(`${statusTexts[status]} …`)
    },
    interrupted: io.interrupted,
  }
  const watched = watchDeploy({
    ...polled,
    onLog: (log) => tell(cleanText(log.message)),
    onLost: () => context.note('The connection was lost; reconnecting …'),
  })
  const deploy = await watched.catch((error: unknown) => {
    if (error instanceof Interrupted) sayDetached(context, service, deployId)
    throw error
  })
  const isAwaited = untilProven && deploy.guardedUntil !== undefined
  if (isJson && !isAwaited) context.printJson(deploy)
  // At which port a private service is reached, its first deploy finds out.
  const isFound = !isJson && deploy.status === 'live' && traitsOf(service.type).choosesPort
  const reached = isFound ? await client.call('getService', { params: { serviceId: service.id } }) : service
  conclude(context, reached, deploy)
  sayWatched(context, deploy)
  if (isAwaited) await awaitVerdict(context, polled, deploy)
}

function conclude(context: Context, service: Service, deploy: Deploy): void {
  if (deploy.status === 'live' || deploy.status === 'deactivated') {
    if (context.isJson) return
    const took = formatTook(Date.parse(deploy.finishedAt ?? deploy.updatedAt) - Date.parse(deploy.createdAt))
    const { url } = service.serviceDetails
    const where = url === undefined ? clean`${service.name} is live` : clean`${service.name} is live at ${url}`
    const since = deploy.status === 'live' ? '' : ' (a newer deploy has replaced it already)'
    context.print(context.paint.green(`${where} after ${took}${since}`))
    const { gapMs } = deploy.rollout
    if (gapMs !== undefined) context.note(`The service was away for ${formatTook(gapMs)}.`)
    return
  }
  throw new CliError('conflict', `The deploy ${statusTexts[deploy.status].toLowerCase()}: ${deploy.reason ?? 'no reason was given.'}`, {
    hint: `Nothing else has changed. See cpctl logs ${service.name} --since 10m`,
  })
}

function sayWatched(context: Context, { guardedUntil, finishedAt }: Deploy): void {
  if (guardedUntil === undefined || finishedAt === undefined || context.isJson) return
  const seconds = Math.round((Date.parse(guardedUntil) - Date.parse(finishedAt)) / 1000)
  context.note(`It is watched for ${seconds} s: if it does far worse than the release before, that one comes back by itself.`)
}

/** @throws CliError with the reason when the release before has come back. */
async function awaitVerdict(context: Context, polled: PollOptions, live: Deploy): Promise<void> {
  const deploy = await pollDeploy(polled, live, ({ status, guardedUntil }) => status !== 'live' || guardedUntil === undefined)
  if (context.isJson) context.printJson(deploy)
  if (deploy.status === 'update_failed') {
    throw new CliError('conflict', clean`The new release was taken back. ${deploy.reason ?? ''}`, {
      hint: 'See its logs, and cpctl services events for the figures.',
    })
  }
  if (!context.isJson) context.print(deploy.status === 'live' ? 'It has passed.' : 'A newer deploy has replaced it already.')
}

function sayDetached(context: Context, service: Service, deployId: string): void {
  context.note(clean`\nNo longer watching: deploy ${deployId} goes on.`)
  context.note(clean`To cancel it: cpctl deploys cancel ${deployId} --service ${service.name}`)
}

const statusTexts: Record<DeployStatus, string> = {
  created: 'Created',
  queued: 'Queued',
  build_in_progress: 'Building',
  pre_deploy_in_progress: 'Running the pre-deploy command',
  update_in_progress: 'Starting the new release',
  live: 'Live',
  deactivated: 'Replaced',
  build_failed: 'Failed to build',
  pre_deploy_failed: 'Failed in its pre-deploy command',
  update_failed: 'Failed to take over',
  canceled: 'Was canceled',
}
