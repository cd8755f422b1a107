import type { Service } from '../../shared/service.ts'
import type { CutoverGuard, Sleep } from '../../shared/service-controls.ts'
import { commitText } from '../base/commit.ts'
import type { Context } from '../session/context.ts'
import { formatFields } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'

export function stateOf({ suspended, serviceDetails, latestDeployStatus }: Service): string {
  if (suspended === 'suspended') return 'suspended'
  if (latestDeployStatus !== undefined) return latestDeployStatus === 'none' ? 'not deployed' : latestDeployStatus.replaceAll('_', ' ')
  if (serviceDetails.maintenanceMode?.enabled) return 'maintenance'
  return serviceDetails.asleepAt === undefined ? 'active' : 'asleep'
}

export function printService(context: Context, service: Service, place: string | undefined): void {
  const { serviceDetails: details } = service
  const fields: [string, string | undefined][] = [
    ['Name', service.name],
    ['Id', service.id],
    ['Type', service.type],
    ['State', stateOf(service)],
    ['Environment', place],
    ...repositoryFields(service),
    ['URL', details.url],
    ['Runtime', details.runtime],
    ['Plan', details.plan],
    ['Instances', details.numInstances?.toString()],
    ['Schedule', details.schedule],
    ['Time zone', details.timezone],
    ['Overlaps', details.overlapPolicy],
    ['Next run', details.nextRunAt],
    ['Last success', details.lastSuccessfulRunAt],
    ['Root folder', service.rootDir],
    ['Build command', details.buildCommand ?? details.envSpecificDetails?.buildCommand],
    ['Start command', details.envSpecificDetails?.startCommand],
    ['Pre-deploy command', details.envSpecificDetails?.preDeployCommand],
    ['Health check path', details.healthCheckPath],
    ['Publish path', details.publishPath],
    ['Allowed addresses', details.ipAllowList && allowedText(details.ipAllowList)],
    ['Maintenance page', details.maintenanceMode?.uri],
    ['Cut-over guard', details.cutoverGuard && guardText(details.cutoverGuard)],
    ['Sleep', details.sleep && sleepText(details.sleep)],
    ['Asleep since', details.asleepAt],
    ['Disk', details.disk && `${details.disk.name}, ${details.disk.sizeGB} GB at ${details.disk.mountPath}`],
    ['Deploys', details.deployStrategy === 'stop_first' ? 'stop-first: it is away for a moment' : undefined],
    ['Created', service.createdAt],
    ['Updated', service.updatedAt],
  ]
  context.io.stdout.write(formatFields(fields, context.paint))
}

function repositoryFields({ repo, branch, autoDeployTrigger, repositoryState }: Service): [string, string | undefined][] {
  if (repo === undefined) return []
  const { problem, waiting } = repositoryState ?? {}
  return [
    ['Repository', branch === undefined ? repo : `${repo} at ${branch}`],
    ['Auto-deploy', deployWords[autoDeployTrigger]],
    ['Waiting', waiting && `${commitText({ id: waiting.commitId, message: waiting.message })}, since ${waiting.since}, for ${waiting.for}`],
    ['Trouble', problem && `since ${problem.since}: ${problem.message}`],
  ]
}

const deployWords: Record<Service['autoDeployTrigger'], string> = {
  commit: 'what is pushed',
  checksPass: 'what is pushed, once its checks have passed',
  off: 'nothing by itself',
}

const allowedText = (list: NonNullable<Service['serviceDetails']['ipAllowList']>): string =>
  list.length === 0
    ? 'nobody'
    : list.map(({ cidrBlock, description }) => clean`${cidrBlock}${description && ` (${description})`}`).join(', ')

const guardText = ({ enabled, windowSeconds, errorRateThreshold }: CutoverGuard): string =>
  enabled ? `${windowSeconds} s, ${errorRateThreshold} points of errors above the old release` : 'off'

const sleepText = ({ mode, idleSeconds }: Sleep): string => (mode === 'off' ? 'off' : `${mode} after ${idleSeconds} s without a request`)
