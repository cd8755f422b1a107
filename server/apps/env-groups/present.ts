import type { EnvGroup } from '../../../shared/env-group.ts'
import { traitsOf } from '../../../shared/service-type.ts'
import type { Actor } from '../../http/handlers/call.ts'
import type { AppContext } from '../context.ts'
import { shownEnv, shownFile } from '../variables/shown.ts'
import type { Changed } from './change.ts'
import { seesGroupValues } from './require.ts'
import { sealedGroupFiles } from './store/file-store.ts'
import { listGroupVariables, type StoredGroup } from './store/group-store.ts'
import { servicesOfGroup } from './store/link-store.ts'

type Deps = Pick<AppContext, 'db' | 'sealer'>
type Seer = Pick<Actor, 'permissions'>

export const presentGroup = (deps: Deps, actor: Seer, group: StoredGroup): EnvGroup =>
  withFiles(deps, group, { isShown: seesGroupValues(deps.db, actor, group), hasContents: true })

/** A group as lists have it: a page of them with all their files would be too much. */
export const presentListed = (deps: Deps, actor: Seer, group: StoredGroup): EnvGroup =>
  withFiles(deps, group, { isShown: seesGroupValues(deps.db, actor, group), hasContents: false })

export const presentChanged = (deps: Deps, actor: Seer, { group, touched }: Changed): EnvGroup => ({
  ...presentGroup(deps, actor, group),
  touched,
})

const iso = (ms: number): string => new Date(ms).toISOString()

function withFiles(deps: Deps, group: StoredGroup, { isShown, hasContents }: { isShown: boolean; hasContents: boolean }): EnvGroup {
  const { id, name, workspaceId, environmentId, projectId, createdAt, updatedAt } = group
  const isOpened = isShown && hasContents
  return {
    id,
    name,
    ownerId: workspaceId,
    ...(environmentId !== null && { environmentId }),
    ...(projectId !== null && { projectId }),
    createdAt: iso(createdAt),
    updatedAt: iso(updatedAt),
    serviceLinks: servicesOfGroup(deps.db, id).map(({ type, ...service }) => ({ ...service, type: traitsOf(type).shortName })),
    envVars: listGroupVariables(deps, id).map((entry) => shownEnv(deps.db, isShown, entry)),
    secretFiles: sealedGroupFiles(deps, id).map((file) => shownFile(isOpened, { name: file.name, content: isOpened ? file.open() : '' })),
  }
}
