import type { Operations } from '../../shared/api.ts'
import { permissionNames, permissions } from '../../shared/permission.ts'
import type { Context } from '../context.ts'
import type { Handlers } from '../http/call.ts'
import { DEFAULT_PAGE_ITEMS, idAfter, pageOf } from '../http/page.ts'
import { listBuiltInRoles } from './rules.ts'

type RoleIds = Extract<keyof Operations, 'listPermissions' | 'listRoles'>

export const roleRoutes: Handlers<RoleIds, Context> = {
  listPermissions: () => permissionNames.map((name) => ({ name, description: permissions[name] })),
  listRoles({ query }) {
    const after = idAfter(query.cursor)
    const roles = listBuiltInRoles()
    const start = after === undefined ? 0 : roles.findIndex(({ id }) => id === after) + 1
    const page = after !== undefined && start === 0 ? [] : roles.slice(start, start + (query.limit ?? DEFAULT_PAGE_ITEMS))
    return pageOf('role', page, ({ id }) => [id])
  },
}
