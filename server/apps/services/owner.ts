import type { Owner } from '../../runtime/owner.ts'

export const ownerOf = ({ id, workspaceId }: Pick<Owner, 'id' | 'workspaceId'>): Owner => ({ kind: 'service', id, workspaceId })
