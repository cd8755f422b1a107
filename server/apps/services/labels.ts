import type { Service, ServicePatch } from '../../../shared/service.ts'
import type { ServiceLabels } from '../../../shared/service-labels.ts'

type LabelsInput = Pick<ServicePatch, 'repo' | 'branch' | 'autoDeploy' | 'autoDeployTrigger' | 'buildFilter' | 'serviceDetails'>

export function applyLabels(labels: ServiceLabels, input: LabelsInput): ServiceLabels {
  const { repo = labels.repo, branch = labels.branch, buildFilter, serviceDetails } = input
  return {
    region: serviceDetails?.region ?? labels.region,
    repo,
    branch,
    autoDeployTrigger: input.autoDeployTrigger ?? triggerAfter(labels.autoDeployTrigger, input.autoDeploy),
    buildFilter: buildFilter === undefined ? labels.buildFilter : { paths: [], ignoredPaths: [], ...buildFilter },
  }
}

type ShownLabels = Pick<Service, 'autoDeploy' | 'autoDeployTrigger' | 'repo' | 'branch' | 'buildFilter'>

/** Clients that have set a filter without paths expect to read none. */
export function presentLabels({ repo, branch, autoDeployTrigger, buildFilter }: ServiceLabels): ShownLabels {
  const isFiltered = buildFilter.paths.length + buildFilter.ignoredPaths.length > 0
  return {
    autoDeploy: autoDeployTrigger === 'off' ? 'no' : 'yes',
    autoDeployTrigger,
    ...(repo !== '' && { repo }),
    ...(branch !== '' && { branch }),
    ...(isFiltered && { buildFilter }),
  }
}

function triggerAfter(
  trigger: ServiceLabels['autoDeployTrigger'],
  autoDeploy: ServicePatch['autoDeploy'],
): ServiceLabels['autoDeployTrigger'] {
  if (autoDeploy === 'no') return 'off'
  return autoDeploy === 'yes' && trigger === 'off' ? 'commit' : trigger
}
