import { nearest } from '../../shared/nearest.ts'
import type { Permission } from '../../shared/permission.ts'
import type { Role } from '../../shared/role.ts'
import { allPages } from '../api/pages.ts'
import { CliError, usageError } from '../base/error.ts'
import type { Context } from '../session/context.ts'

/** The roles of the workspace, those built in included. */
export const listRoles = async ({ client }: Pick<Context, 'client'>): Promise<Role[]> =>
  (await allPages((query) => client.call('listRoles', { query }))).map(({ role }) => role)

/** The role of this name, in any letter case, or id. @throws CliError naming the nearest when there is none. */
export async function resolveRole(context: Pick<Context, 'client'>, nameOrId: string): Promise<Role> {
  const roles = await listRoles(context)
  const isMeant = ({ id, name }: Role) => id === nameOrId || name.toUpperCase() === nameOrId.toUpperCase()
  const role = roles.find(({ name }) => name === nameOrId) ?? roles.find(isMeant)
  if (role !== undefined) return role
  const near = nearest(
    nameOrId,
    roles.map(({ name }) => name),
  )
  const hint = near === undefined ? 'cpctl roles list shows them.' : `Did you mean ${near}? cpctl roles list shows them all.`
  throw new CliError('not_found', `There is no role ${nameOrId}.`, { hint })
}

/** Where the server knows no such role, the nearest one is told. */
export async function explainRole(context: Pick<Context, 'client'>, role: string | undefined, error: unknown): Promise<never> {
  const isRoleUnknown = error instanceof CliError && error.body.details?.some(({ path }) => path === '/role') === true
  if (role !== undefined && isRoleUnknown) await resolveRole(context, role)
  throw error
}

/** The permissions of these names, as the server knows them. @throws CliError naming the nearest for one that is none. */
export async function checkedPermissions({ client }: Pick<Context, 'client'>, names: readonly string[]): Promise<Permission[]> {
  if (names.length === 0) return []
  const known = (await client.call('listPermissions')).map(({ name }) => name)
  return names.map((name) => {
    const permission = known.find((candidate) => candidate === name)
    if (permission !== undefined) return permission
    const near = nearest(name, known)
    const hint = near === undefined ? 'cpctl permissions lists those there are.' : `Did you mean ${near}? cpctl permissions lists them all.`
    throw usageError(`${name} is no permission.`, hint)
  })
}
