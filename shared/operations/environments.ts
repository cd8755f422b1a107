import { Type } from '@sinclair/typebox'
import { defineOperations } from '../operation.ts'
import {
  Environment,
  EnvironmentCreate,
  EnvironmentPatch,
  EnvironmentQuery,
  EnvironmentResources,
  ForceQuery,
  RemovedResources,
} from '../project.ts'
import { PageOf } from '../schema.ts'

const EnvironmentParams = Type.Object({ environmentId: Type.String({ description: 'Id of the environment' }) })

const parting =
  'Services that name another one, a database or a key-value store in a variable and would no longer reach it are told with 409; `force=true` goes on all the same.'

/** Groups of services within a project, which can be protected, and closed to others of the workspace. */
export const environmentOperations = defineOperations({
  listEnvironments: {
    method: 'GET',
    path: '/v1/environments',
    access: 'services.read',
    tag: 'Projects',
    summary: 'List environments, of all projects or of some',
    description: 'Who is confined to some services sees those in which they are.',
    query: EnvironmentQuery,
    responses: { 200: PageOf('environment', Environment) },
  },
  createEnvironment: {
    method: 'POST',
    path: '/v1/environments',
    access: 'projects.manage',
    inProtected: 'depends',
    tag: 'Projects',
    summary: 'Create an environment in a project',
    body: EnvironmentCreate,
    responses: { 201: Environment },
    errors: ['not_found', 'conflict'],
    creates: true,
  },
  getEnvironment: {
    method: 'GET',
    path: '/v1/environments/:environmentId',
    access: 'services.read',
    tag: 'Projects',
    summary: 'One environment, with the ids of what is in it',
    params: EnvironmentParams,
    responses: { 200: Environment },
    errors: ['not_found'],
  },
  updateEnvironment: {
    method: 'PATCH',
    path: '/v1/environments/:environmentId',
    access: 'projects.manage',
    inProtected: 'depends',
    changes: 'after_waiting',
    tag: 'Projects',
    summary: 'Rename, protect or isolate an environment',
    description: `Isolation is in force for new connections at once. ${parting} What is or becomes protected is changed by holders of environments.manage_protected.`,
    params: EnvironmentParams,
    query: ForceQuery,
    body: EnvironmentPatch,
    responses: { 200: Environment },
    errors: ['not_found', 'conflict'],
  },
  deleteEnvironment: {
    method: 'DELETE',
    path: '/v1/environments/:environmentId',
    access: 'projects.manage',
    inProtected: 'refused',
    tag: 'Projects',
    summary: 'Delete an environment that is empty',
    params: EnvironmentParams,
    responses: { 204: null },
    errors: ['not_found', 'conflict'],
  },
  addEnvironmentResources: {
    method: 'POST',
    path: '/v1/environments/:environmentId/resources',
    access: 'services.update',
    inProtected: 'depends',
    changes: 'after_waiting',
    tag: 'Projects',
    summary: 'Move services and databases into an environment',
    description: `All of them or none, from wherever they are. ${parting}`,
    params: EnvironmentParams,
    query: ForceQuery,
    body: EnvironmentResources,
    responses: { 201: Environment },
    errors: ['not_found', 'conflict'],
  },
  removeEnvironmentResources: {
    method: 'DELETE',
    path: '/v1/environments/:environmentId/resources',
    access: 'services.update',
    inProtected: 'refused',
    changes: 'after_waiting',
    tag: 'Projects',
    summary: 'Take services and databases out of an environment',
    description: `What is in another environment or in none stays where it is. ${parting} With the id of a resource in the path nothing changes: Render's Terraform provider sends that before it moves one.`,
    params: EnvironmentParams,
    query: RemovedResources,
    responses: { 204: null },
    errors: ['not_found', 'conflict'],
  },
})
