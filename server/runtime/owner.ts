/** Who has something run, and keeps things here for it: services today. */
export interface Owner {
  readonly kind: 'service'
  readonly id: string
  readonly workspaceId: string
}
