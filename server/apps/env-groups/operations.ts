import type { EnvGroupCreate } from '../../../shared/env-group.ts'
import { AppError } from '../../../shared/error.ts'
import type { Actor } from '../../http/handlers/call.ts'
import { newId } from '../../platform/id.ts'
import type { AppContext } from '../context.ts'
import type { EnvEntry, SecretFileEntry } from '../services/env-store.ts'
import { requireService } from '../services/require.ts'
import type { StoredService } from '../services/store.ts'
import { binderFor } from '../variables/bind.ts'
import { type Layer, resolveVariables } from '../variables/resolve.ts'
import { refuseSameNames, resolveEnvInput } from '../variables/rules.ts'
import { type Changed, changeGroup } from './change.ts'
import { placeOfGroup, refuseMisfit } from './place.ts'
import { refuseLargeFiles, refuseLargeGroup, refuseTooManyGroups, refuseTooManyLinks } from './rules.ts'
import { deleteGroupFile, sealedGroupFiles, setGroupFile } from './store/file-store.ts'
import {
  countGroups,
  insertGroup,
  isGroupNameTaken,
  listGroupVariables,
  removeGroup,
  replaceGroupVariables,
  type StoredGroup,
  updateGroup,
} from './store/group-store.ts'
import { addLink, groupsOfService, removeLink, servicesOfGroup } from './store/link-store.ts'

export function createGroup(
  context: AppContext,
  actor: Actor,
  { body, isDeployed }: { body: EnvGroupCreate; isDeployed: boolean },
): Changed {
  const { db, now } = context
  const { workspaceId } = actor
  const place = placeOfGroup(context, actor, body)
  const envVars = resolveEnvInput(body.envVars ?? [], { type: undefined, pointer: '/envVars', bind: binderFor(context, actor, place) })
  const secretFiles = body.secretFiles ?? []
  refuseLargeGroup(envVars)
  refuseSameNames(secretFiles)
  refuseLargeFiles(secretFiles)
  const services = [...new Set(body.serviceIds ?? [])].map((id) => requireService(context, actor, id))
  refuseTooManyGroups(countGroups(db, workspaceId))
  const createdAt = now()
  const group = { id: newId('envGroup', createdAt), workspaceId, ...place, name: body.name, createdAt, updatedAt: createdAt }
  refuseTakenName(context, group)
  refuseOwnCircles(group, envVars)
  insertGroup(context, group, envVars)
  for (const file of secretFiles) setGroupFile(context, group.id, file)
  const apply = () => {
    for (const service of services) linkTo(context, group, service)
  }
  return changeGroup(context, group, { apply, isDeployed, services: services.map(({ id }) => id) })
}

export function renameGroup(context: AppContext, group: StoredGroup, name: string): StoredGroup {
  const renamed = { ...group, name, updatedAt: context.now() }
  refuseTakenName(context, renamed)
  updateGroup(context.db, group.id, { name }, renamed.updatedAt)
  return renamed
}

export function deleteGroup(
  context: AppContext,
  group: StoredGroup,
  { isForced, isDeployed }: { isForced: boolean; isDeployed: boolean },
): Changed {
  const linked = servicesOfGroup(context.db, group.id)
  if (linked.length > 0 && !isForced) throw linkedError(group, linked)
  return changeGroup(context, group, { apply: () => removeGroup(context.db, group.id), isDeployed, mayMakeCircles: true })
}

export function replaceVariables(
  context: AppContext,
  group: StoredGroup,
  { entries, isDeployed }: { entries: readonly EnvEntry[]; isDeployed: boolean },
): Changed {
  refuseLargeGroup(entries)
  refuseOwnCircles(group, entries)
  return changeGroup(context, group, { apply: () => replaceGroupVariables(context, group.id, entries, context.now()), isDeployed })
}

export function setVariable(
  context: AppContext,
  group: StoredGroup,
  { entry, isDeployed }: { entry: EnvEntry; isDeployed: boolean },
): Changed {
  const others = listGroupVariables(context, group.id).filter(({ key }) => key !== entry.key)
  return replaceVariables(context, group, { entries: [...others, entry], isDeployed })
}

export function deleteVariable(
  context: AppContext,
  group: StoredGroup,
  { key, isDeployed }: { key: string; isDeployed: boolean },
): Changed {
  const held = listGroupVariables(context, group.id)
  const entries = held.filter((entry) => entry.key !== key)
  if (entries.length === held.length) throw new AppError('not_found', `The env group ${group.name} has no variable ${key}.`)
  return replaceVariables(context, group, { entries, isDeployed })
}

export function setFile(
  context: AppContext,
  group: StoredGroup,
  { file, isDeployed }: { file: SecretFileEntry; isDeployed: boolean },
): Changed {
  const others = sealedGroupFiles(context, group.id).filter(({ name }) => name !== file.name)
  refuseLargeFiles([...others.map(({ open }) => ({ content: open() })), file])
  return changeGroup(context, group, { apply: () => setGroupFile(context, group.id, file), isDeployed })
}

export function deleteFile(context: AppContext, group: StoredGroup, { name, isDeployed }: { name: string; isDeployed: boolean }): Changed {
  const apply = () => {
    if (!deleteGroupFile(context, group.id, name))
      throw new AppError('not_found', `The env group ${group.name} has no secret file ${name}.`)
  }
  return changeGroup(context, group, { apply, isDeployed })
}

export function linkGroup(
  context: AppContext,
  group: StoredGroup,
  { service, isDeployed }: { service: StoredService; isDeployed: boolean },
): Changed {
  return changeGroup(context, group, { apply: () => linkTo(context, group, service), isDeployed, services: [service.id] })
}

export function unlinkGroup(
  context: AppContext,
  group: StoredGroup,
  { service, isDeployed }: { service: StoredService; isDeployed: boolean },
): Changed {
  const apply = () => {
    if (!removeLink(context.db, { serviceId: service.id, groupId: group.id }))
      throw new AppError('not_found', `${service.name} is not linked to the env group ${group.name}.`)
  }
  return changeGroup(context, group, { apply, isDeployed, services: [service.id] })
}

function linkTo(context: AppContext, group: StoredGroup, service: StoredService): void {
  const linked = groupsOfService(context.db, service.id)
  if (linked.some(({ id }) => id === group.id)) return
  refuseMisfit(context, group, service)
  refuseTooManyLinks(service, linked.length)
  addLink(context.db, { serviceId: service.id, groupId: group.id })
}

function refuseTakenName({ db }: AppContext, { id, workspaceId, name }: StoredGroup): void {
  if (isGroupNameTaken(db, workspaceId, { name, exceptId: id }))
    throw new AppError('conflict', `There is an env group named ${name} already. Choose another name.`)
}

/** A group is refused that makes a circle by itself, though nothing is linked to it yet. */
function refuseOwnCircles({ id, name }: StoredGroup, variables: Layer['variables']): void {
  const wrong = resolveVariables([{ source: { type: 'group', id, name }, variables }], nothingKnown).find(
    ({ isCircle }) => isCircle === true,
  )
  if (wrong !== undefined) throw new AppError('validation_failed', `${wrong.key} ${wrong.problem}. Give one of them its value.`)
}

const nothingKnown = { given: new Map(), lookUp: () => ({ value: '' }) }

const TOLD_SERVICES = 20

function linkedError({ name }: StoredGroup, linked: readonly { id: string; name: string }[]): AppError {
  const told = linked.slice(0, TOLD_SERVICES)
  const more = linked.length > told.length ? ` and ${linked.length - told.length} more` : ''
  return new AppError(
    'conflict',
    `Services are linked to the env group ${name}: ${told.map((service) => service.name).join(', ')}${more}. Unlink them first, or delete it with force=true.`,
    { details: told.map((service) => ({ path: '/serviceLinks', message: `${service.name} (${service.id}) is linked to it` })) },
  )
}
