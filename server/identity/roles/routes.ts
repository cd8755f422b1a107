import type { Operations } from '../../../shared/operations/all.ts'
import { permissionNames, permissions } from '../../../shared/permission.ts'
import type { Role } from '../../../shared/role.ts'
import { type IdPage, idPageOf, pageOf } from '../../http/answers/page.ts'
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
    return pageOf('role', rolesIn(db, actor.workspaceId, idPageOf(query)), ({ id }) => [id])
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

function rolesIn(db: IdentityContext['db'], workspaceId: string, { beforeId, limit }: IdPage): Role[] {
  const builtIn = listBuiltInRoles()
  const place = builtIn.findIndex(({ id }) => id === beforeId)
  if (place >= 0) return builtIn.slice(place + 1, place + 1 + limit)
  const own = listRoles(db, workspaceId, { beforeId, limit }).map(presentRole)
  return [...own, ...builtIn].slice(0, limit)
}
