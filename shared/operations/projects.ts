import { Type } from '@sinclair/typebox'
import { defineOperations } from '../operation.ts'
import { Project, ProjectCreate, ProjectPatch, ProjectQuery } from '../project.ts'
import { PageOf } from '../schema.ts'

const ProjectParams = Type.Object({ projectId: Type.String({ description: 'Id of the project' }) })

/** Groups of environments, which are groups of services. */
export const projectOperations = defineOperations({
  listProjects: {
    method: 'GET',
    path: '/v1/projects',
    access: 'services.read',
    tag: 'Projects',
    summary: 'List projects',
    description: 'Who is confined to some services sees those in which they are.',
    query: ProjectQuery,
    responses: { 200: PageOf('project', Project) },
  },
  createProject: {
    method: 'POST',
    path: '/v1/projects',
    access: 'projects.manage',
    inProtected: 'depends',
    tag: 'Projects',
    summary: 'Create a project, with its environments',
    body: ProjectCreate,
    responses: { 201: Project },
    errors: ['conflict'],
    creates: true,
  },
  getProject: {
    method: 'GET',
    path: '/v1/projects/:projectId',
    access: 'services.read',
    tag: 'Projects',
    summary: 'One project',
    params: ProjectParams,
    responses: { 200: Project },
    errors: ['not_found'],
  },
  updateProject: {
    method: 'PATCH',
    path: '/v1/projects/:projectId',
    access: 'projects.manage',
    tag: 'Projects',
    summary: 'Rename a project',
    params: ProjectParams,
    body: ProjectPatch,
    responses: { 200: Project },
    errors: ['not_found', 'conflict'],
  },
  deleteProject: {
    method: 'DELETE',
    path: '/v1/projects/:projectId',
    access: 'projects.manage',
    inProtected: 'depends',
    tag: 'Projects',
    summary: 'Delete a project with its environments, when all of them are empty',
    params: ProjectParams,
    responses: { 204: null },
    errors: ['not_found', 'conflict'],
  },
})
