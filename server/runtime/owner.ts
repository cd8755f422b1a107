/** Who has something run, and keeps things here for it: services, databases and key-value stores. */
export interface Owner {
  readonly kind: 'service' | 'datastore'
  readonly id: string
  readonly workspaceId: string
}
