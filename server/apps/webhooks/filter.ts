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
  projectId: string | null
}

export const isWanted = (wanted: Wanted, event: Happening): boolean =>
  (wanted.eventFilter.length === 0 || wanted.eventFilter.includes(event.type)) && isInScope(wanted, event)

export const isForAll = ({ eventFilter, ...scope }: Wanted): boolean => eventFilter.length === 0 && isWorkspaceWide(scope)

const isWorkspaceWide = ({ serviceIds, environmentIds, projectIds }: Omit<Wanted, 'eventFilter'>): boolean =>
  serviceIds.length + environmentIds.length + projectIds.length === 0

/** Ids of what was deleted stay in a scope, so one of nothing else is for nothing, and never for everything. */
function isInScope(scope: Wanted, event: Happening): boolean {
  if (isWorkspaceWide(scope)) return true
  const { serviceIds, environmentIds, projectIds } = scope
  const named = (ids: readonly string[], id: string | null): boolean => id !== null && ids.includes(id)
  return named(serviceIds, event.serviceId) || named(environmentIds, event.environmentId) || named(projectIds, event.projectId)
}
