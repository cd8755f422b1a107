import type { DeployStatus } from '../../../../shared/deploy.ts'
import type { CommitReport } from '../port.ts'

export type ReportState = CommitReport['state']

export interface Telling {
  state: ReportState
  description: string
}

/** What is told of each status. No reason of a failure: everybody reads it where the repository is public. */
const tellings: Readonly<Record<DeployStatus, Telling>> = {
  created: { state: 'queued', description: 'Waiting' },
  queued: { state: 'queued', description: 'Waiting' },
  build_in_progress: { state: 'in_progress', description: 'Building' },
  pre_deploy_in_progress: { state: 'in_progress', description: 'Running the pre-deploy command' },
  update_in_progress: { state: 'in_progress', description: 'Starting' },
  live: { state: 'success', description: 'Live' },
  deactivated: { state: 'inactive', description: 'Was live' },
  build_failed: { state: 'failure', description: 'The build failed' },
  pre_deploy_failed: { state: 'failure', description: 'The pre-deploy command failed' },
  update_failed: { state: 'failure', description: 'It did not start' },
  canceled: { state: 'failure', description: 'Canceled' },
}

/** What is still to be told of a deploy; undefined where it is told. A host takes back by itself what another deploy took the place of. */
export function tellingOf({ status, told }: { status: DeployStatus; told: ReportState | null }): Telling | undefined {
  const telling = tellings[status]
  if (telling.state === told || (telling.state === 'inactive' && told === 'success')) return undefined
  return telling
}
