import { type Permission, workspaceWide } from '../../../shared/permission.ts'
import type { Scope } from '../../../shared/scope.ts'
import type { Codec } from '../../platform/db/codec.ts'
import { texts } from '../../platform/db/json-column.ts'
import { memo } from '../../platform/memo.ts'

/** Ids of the services that somebody is confined to; undefined is the whole workspace, and an empty set is nothing at all. */
export type ServiceScope = ReadonlySet<string> | undefined

const REMEMBERED_SCOPES = 2000

const idsIn = memo((text: string): ReadonlySet<string> => new Set(texts.read(text)), REMEMBERED_SCOPES)

export const scopeText = (scope: ServiceScope): string | null => (scope === undefined ? null : JSON.stringify([...scope]))

export const scopeColumn: Codec<ServiceScope> = {
  read: (stored) => (stored === null ? undefined : idsIn(String(stored))),
  write: scopeText,
}

export const presentScope = (scope: ServiceScope): Scope => (scope === undefined ? null : { serviceIds: [...scope] })

export const isWithin = (scope: ServiceScope, serviceId: string): boolean => scope === undefined || scope.has(serviceId)

export const permissionsWithin = (scope: ServiceScope, permissions: ReadonlySet<Permission>): ReadonlySet<Permission> =>
  scope === undefined ? permissions : confined(permissions)

/** Sets are shared by everyone with the role, so each is worked out once. */
const known = new WeakMap<ReadonlySet<Permission>, ReadonlySet<Permission>>()

function confined(permissions: ReadonlySet<Permission>): ReadonlySet<Permission> {
  const before = known.get(permissions)
  if (before !== undefined) return before
  const left: ReadonlySet<Permission> = new Set([...permissions].filter((permission) => !workspaceWide.has(permission)))
  known.set(permissions, left)
  return left
}
