import { type Command, Option } from 'commander'
import type { ServicePatch } from '../../shared/service.ts'
import { present } from '../base/present.ts'
import { gather } from './values.ts'

export interface RepositoryOptions {
  repo?: string
  branch?: string
  autoDeploy?: ServicePatch['autoDeployTrigger']
  filter?: string[]
  filterIgnore?: string[]
  submodules?: boolean
}

export const addRepositoryOptions = (command: Command): Command =>
  command
    .option('--repo <url>', 'Repository that it is deployed from, by https or ssh')
    .option('--branch <name>', 'Branch that is deployed; default: that of the repository')
    .addOption(
      new Option('--auto-deploy <when>', 'When what is pushed is deployed: at once, once its checks pass, or never').choices([
        'commit',
        'checksPass',
        'off',
      ]),
    )
    .option('--filter <globs>', 'Paths that a push has to change to be deployed, such as apps/web/**', gather)
    .option('--filter-ignore <globs>', 'Paths whose change alone deploys nothing, such as docs/**', gather)
    .option('--submodules', 'Deploy a commit with the submodules that it names')
    .option('--no-submodules', 'Leave the folders of submodules empty')

export function repositoryInput({ repo, branch, autoDeploy, filter, filterIgnore, submodules }: RepositoryOptions) {
  const buildFilter =
    filter === undefined && filterIgnore === undefined ? undefined : present({ paths: filter, ignoredPaths: filterIgnore })
  return present({ repo, branch, autoDeployTrigger: autoDeploy, buildFilter, submodules })
}
