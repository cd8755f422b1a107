import type { Deployed } from './deploy.ts'
import type { Copied } from './execute.ts'
import type { CopyPlan, PlannedService } from './plan.ts'

interface Done {
  copied: readonly Copied[]
  deployed: readonly Deployed[]
}

/** A plan and what was done of it, for scripts. */
export const summaryOf = ({ project, environments }: CopyPlan, done: Done = { copied: [], deployed: [] }): unknown => ({
  project: { name: project.name, exists: project.id !== undefined },
  environments: environments.map(({ label, of, existing, services }) => ({
    name: label,
    of,
    exists: existing !== undefined,
    services: services.map((planned) => serviceSummary(planned, done)),
  })),
})

function serviceSummary({ name, original, existing, missing }: PlannedService, { copied, deployed }: Done): unknown {
  const id = copied.find(({ planned }) => planned.name === name)?.id ?? existing?.id
  const deploy = deployed.find((each) => each.name === name)?.deploy
  return {
    name,
    of: original.service.name,
    exists: existing !== undefined,
    ...(id !== undefined && { id }),
    missing,
    domains: original.domains,
    ...(deploy && { deploy }),
  }
}
