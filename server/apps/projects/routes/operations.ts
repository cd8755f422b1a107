import { AppError } from '../../../../shared/error.ts'
import type { EnvironmentCreate, NewEnvironment, ProjectCreate, ProjectPatch } from '../../../../shared/project.ts'
import type { Actor } from '../../../http/handlers/call.ts'
import { requireProtectedRight } from '../../../identity/scopes/protection.ts'
import { dropFromScopes } from '../../../identity/scopes/store.ts'
import { newId } from '../../../platform/id.ts'
import type { AppContext } from '../../context.ts'
import { forgetPlaceOfKept } from '../../disks/store.ts'
import { forgetDeleted, namesBesideEnvironments, namesIn } from '../contents.ts'
import { requireProject } from '../require.ts'
import { inWords, patched, refuseSameNames, refuseTooManyEnvironments, refuseTooManyProjects } from '../rules.ts'
import {
  countProjects,
  environmentsOf,
  findProjectByName,
  insertEnvironment,
  insertProject,
  removeEnvironment,
  removeProject,
  renameProject,
  type StoredEnvironment,
  type StoredProject,
} from '../store.ts'

type Deps = Pick<AppContext, 'db' | 'now'>

export function createProject({ db, now }: Deps, actor: Actor, { name, environments = [] }: ProjectCreate): StoredProject {
  refuseSameNames(environments)
  const createdAt = now()
  const { workspaceId } = actor
  const project = { id: newId('project', createdAt), workspaceId, name, createdAt, updatedAt: createdAt }
  db.transaction(() => {
    refuseTooManyProjects(countProjects(db, workspaceId))
    refuseTakenProject(db, project)
    insertProject(db, project)
    for (const environment of environments) addEnvironment({ db, now }, actor, { project, environment })
  })()
  return project
}

export function changeProject({ db, now }: Deps, actor: Actor, { id, patch }: { id: string; patch: ProjectPatch }): StoredProject {
  const project = requireProject({ db }, actor, id)
  const changed = { ...project, name: patch.name ?? project.name, updatedAt: now() }
  db.transaction(() => {
    refuseTakenProject(db, changed)
    renameProject(db, id, changed)
  })()
  return changed
}

export function deleteProject({ db }: Deps, actor: Actor, id: string): void {
  db.transaction(() => {
    const project = requireProject({ db }, actor, id)
    for (const environment of environmentsOf(db, project.id)) clearForRemoval(db, actor, environment)
    const left = inWords(namesBesideEnvironments(db, project.id))
    if (left !== undefined) throw new AppError('conflict', `The project ${project.name} still has ${left}. Delete them first.`)
    dropFromScopes(db, project)
    removeProject(db, project.id)
  })()
}

export function createEnvironment(deps: Deps, actor: Actor, { projectId, ...environment }: EnvironmentCreate): StoredEnvironment {
  return deps.db.transaction(() => addEnvironment(deps, actor, { project: requireProject(deps, actor, projectId), environment }))()
}

export function deleteEnvironment({ db }: Deps, actor: Actor, environment: StoredEnvironment): void {
  db.transaction(() => {
    clearForRemoval(db, actor, environment)
    removeEnvironment(db, environment.id)
  })()
}

export function refuseTakenEnvironment(db: AppContext['db'], { id, projectId, name }: StoredEnvironment): void {
  const holder = environmentsOf(db, projectId).find((other) => other.name === name)
  if (holder !== undefined && holder.id !== id)
    throw new AppError('conflict', `There is an environment named ${name} in this project already. Choose another name.`)
}

function addEnvironment(
  { db, now }: Deps,
  actor: Actor,
  { project, environment }: { project: StoredProject; environment: NewEnvironment },
): StoredEnvironment {
  const createdAt = now()
  const bare: StoredEnvironment = {
    id: newId('environment', createdAt),
    workspaceId: project.workspaceId,
    projectId: project.id,
    name: environment.name,
    protectedStatus: 'unprotected',
    isIsolated: false,
    createdAt,
    updatedAt: createdAt,
  }
  const made = patched(bare, environment)
  refuseTooManyEnvironments(environmentsOf(db, project.id).length)
  refuseTakenEnvironment(db, made)
  insertEnvironment(db, made)
  requireProtectedRight(db, actor, made.id)
  return made
}

function refuseTakenProject(db: AppContext['db'], { id, workspaceId, name }: StoredProject): void {
  const holder = findProjectByName(db, workspaceId, name)
  if (holder !== undefined && holder.id !== id)
    throw new AppError('conflict', `There is a project named ${name} already. Choose another name.`)
}

function clearForRemoval(db: AppContext['db'], actor: Actor, environment: StoredEnvironment): void {
  requireProtectedRight(db, actor, environment.id)
  const left = inWords(namesIn(db, environment.id))
  if (left !== undefined)
    throw new AppError('conflict', `The environment ${environment.name} still has ${left}. Move them elsewhere, or delete them, first.`)
  forgetDeleted(db, environment.id)
  if (environment.protectedStatus === 'unprotected') forgetPlaceOfKept(db, environment.id)
  dropFromScopes(db, environment)
}
