import type { Operations } from '../../../shared/api.ts'
import { permissionNames, permissions } from '../../../shared/permission.ts'
import type { Role } from '../../../shared/role.ts'
import { DEFAULT_PAGE_ITEMS, idAfter, pageOf } from '../../http/answers/page.ts'
import type { Handlers } from '../../http/handlers/call.ts'
import type { IdentityContext } from '../context.ts'
import { listRoles } from '../permissions/role-store.ts'
import { listBuiltInRoles } from '../permissions/rules.ts'
import { changeRole, createRole, removeRole } from './operations.ts'
import { presentRole } from './present.ts'

type RoleIds = Extract<keyof Operations, 'listPermissions' | 'listRoles' | 'createRole' | 'updateRole' | 'deleteRole'>

export const roleRoutes: Handlers<RoleIds, IdentityContext> = {
  listPermissions: () => permissionNames.map((name) => ({ name, description: permissions[name] })),
  listRoles({ actor, query }, { db }) {
    const page = { after: idAfter(query.cursor), limit: query.limit ?? DEFAULT_PAGE_ITEMS }
    return pageOf('role', rolesAfter(db, actor.workspaceId, page), ({ id }) => [id])
  },
  createRole: ({ actor, body }, context) => presentRole(createRole(context, actor, body)),
  updateRole({ actor, params, body, note }, context) {
    const { role, revokedKeys } = changeRole(context, actor, { id: params.roleId, patch: body })
    if (revokedKeys.length > 0) note({ metadata: { revokedKeys: revokedKeys.map(({ id, name }) => ({ id, name })) } })
    return presentRole(role)
  },
  deleteRole({ actor, params }, context) {
    removeRole(context, actor, params.roleId)
  },
}

function rolesAfter(
  db: IdentityContext['db'],
  workspaceId: string,
  { after, limit }: { after: string | undefined; limit: number },
): Role[] {
  const builtIn = listBuiltInRoles()
  const place = builtIn.findIndex(({ id }) => id === after)
  if (place >= 0) return builtIn.slice(place + 1, place + 1 + limit)
  const own = listRoles(db, workspaceId, { beforeId: after, limit }).map(presentRole)
  return [...own, ...builtIn].slice(0, limit)
}
