import type { PlannedDatastore } from './datastores.ts'
import type { Deployed } from './deploy.ts'
import type { Copied } from './execute.ts'
import type { PlannedGroup } from './groups.ts'
import type { CopyPlan, PlannedService } from './plan.ts'

interface Done {
  copied: readonly Copied[]
  deployed: readonly Deployed[]
}

export const summaryOf = ({ project, groups, environments }: CopyPlan, done: Done = { copied: [], deployed: [] }): unknown => ({
  project: { name: project.name, exists: project.id !== undefined },
  envGroups: groups.map(groupSummary),
  environments: environments.map(({ label, of, existing, datastores, groups: own, services }) => ({
    name: label,
    of,
    exists: existing !== undefined,
    databases: datastores.map(datastoreSummary),
    envGroups: own.map(groupSummary),
    services: services.map((planned) => serviceSummary(planned, done)),
  })),
})

const datastoreSummary = ({ name, original: { kind, of }, existing }: PlannedDatastore): unknown => ({
  name,
  kind,
  of: of.name,
  exists: existing !== undefined,
})

const groupSummary = ({ name, original, existing, missing }: PlannedGroup): unknown => ({
  name,
  of: original.name,
  exists: existing !== undefined,
  missing,
})

function serviceSummary({ name, original, existing, missing, links }: PlannedService, { copied, deployed }: Done): unknown {
  const id = copied.find(({ planned }) => planned.name === name)?.id ?? existing?.id
  const deploy = deployed.find((each) => each.name === name)?.deploy
  return {
    name,
    of: original.service.name,
    exists: existing !== undefined,
    ...(id !== undefined && { id }),
    missing,
    envGroups: links.map(({ group, copy }) => copy?.name ?? group.name),
    domains: original.domains,
    ...(deploy && { deploy }),
  }
}
