import { invalidValue } from '../../../shared/error.ts'
import { isRefName, parseRepositoryUrl } from '../../../shared/repository.ts'
import type { Service, ServicePatch } from '../../../shared/service.ts'
import { detailsIn } from '../../../shared/service-details.ts'
import type { ServiceLabels } from '../../../shared/service-labels.ts'

type LabelsInput = Pick<
  ServicePatch,
  'repo' | 'branch' | 'autoDeploy' | 'autoDeployTrigger' | 'buildFilter' | 'submodules' | 'serviceDetails'
>

export function applyLabels(labels: ServiceLabels, input: LabelsInput): ServiceLabels {
  const { repo = labels.repo, branch = labels.branch, buildFilter, submodules = labels.submodules } = input
  const serviceDetails = detailsIn(input)
  refuseBad(input)
  return {
    region: serviceDetails?.region ?? labels.region,
    repo,
    branch,
    autoDeployTrigger: input.autoDeployTrigger ?? triggerAfter(isNew(labels, repo) ? 'commit' : labels.autoDeployTrigger, input.autoDeploy),
    buildFilter: buildFilter === undefined ? labels.buildFilter : { paths: [], ignoredPaths: [], ...buildFilter },
    submodules,
    previews: { ...labels.previews, ...serviceDetails?.previews },
  }
}

/** What comes to a repository is deployed unless somebody says otherwise, as on Render. */
const isNew = (labels: ServiceLabels, repo: string): boolean => labels.repo === '' && repo !== ''

const USABLE_URLS =
  'Give the URL of the repository, without a password in it: https://github.com/acme/shop, git@git.example.com:acme/shop.git or ssh://git@git.example.com:2222/acme/shop.git.'

function refuseBad({ repo = '', branch = '' }: LabelsInput): void {
  if (repo !== '' && parseRepositoryUrl(repo) === undefined) throw invalidValue('/repo', USABLE_URLS)
  if (branch !== '' && !isRefName(branch)) throw invalidValue('/branch', 'This can be no branch of git. Give its name, such as main.')
}

type ShownLabels = Pick<Service, 'autoDeploy' | 'autoDeployTrigger' | 'repo' | 'branch' | 'buildFilter' | 'submodules'>

/** Clients that have set a filter without paths expect to read none. */
export function presentLabels({ repo, branch, autoDeployTrigger, buildFilter, submodules }: ServiceLabels): ShownLabels {
  const isFiltered = buildFilter.paths.length + buildFilter.ignoredPaths.length > 0
  return {
    autoDeploy: autoDeployTrigger === 'off' ? 'no' : 'yes',
    autoDeployTrigger,
    ...(repo !== '' && { repo }),
    ...(branch !== '' && { branch }),
    ...(isFiltered && { buildFilter }),
    ...(submodules && { submodules }),
  }
}

function triggerAfter(
  trigger: ServiceLabels['autoDeployTrigger'],
  autoDeploy: ServicePatch['autoDeploy'],
): ServiceLabels['autoDeployTrigger'] {
  if (autoDeploy === 'no') return 'off'
  return autoDeploy === 'yes' && trigger === 'off' ? 'commit' : trigger
}
