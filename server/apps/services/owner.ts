import type { Owner } from '../../runtime/owner.ts'

/** A service as one of those who have something run. */
export const ownerOf = ({ id, workspaceId }: Pick<Owner, 'id' | 'workspaceId'>): Owner => ({ kind: 'service', id, workspaceId })
