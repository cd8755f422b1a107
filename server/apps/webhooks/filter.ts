/** What a webhook is for. Empty lists of ids, all three of them, are the whole workspace; an empty filter is all types. */
export interface Wanted {
  eventFilter: readonly string[]
  serviceIds: readonly string[]
  environmentIds: readonly string[]
  projectIds: readonly string[]
}

export interface Happening {
  type: string
  serviceId: string | null
  environmentId: string | null
  /** The project of that environment, where both are still there. */
  projectId: string | null
}

export const isWanted = (wanted: Wanted, event: Happening): boolean =>
  (wanted.eventFilter.length === 0 || wanted.eventFilter.includes(event.type)) && isInScope(wanted, event)

/** Ids of what was deleted stay in a scope, so one of nothing else is for nothing, and never for everything. */
function isInScope({ serviceIds, environmentIds, projectIds }: Wanted, event: Happening): boolean {
  if (serviceIds.length + environmentIds.length + projectIds.length === 0) return true
  const named = (ids: readonly string[], id: string | null): boolean => id !== null && ids.includes(id)
  return named(serviceIds, event.serviceId) || named(environmentIds, event.environmentId) || named(projectIds, event.projectId)
}
