import { defineOperations } from '../operation.ts'
import { Environment, EnvironmentQuery, Project, ProjectQuery } from '../project.ts'
import { PageOf } from '../schema.ts'

/** Groups of services. Clients of Render's API ask for them before they name anything, and fail where the lists are not there. */
export const projectOperations = defineOperations({
  listProjects: {
    method: 'GET',
    path: '/v1/projects',
    access: 'services.read',
    tag: 'Projects',
    summary: 'List projects: there are none yet',
    query: ProjectQuery,
    responses: { 200: PageOf('project', Project) },
  },
  listEnvironments: {
    method: 'GET',
    path: '/v1/environments',
    access: 'services.read',
    tag: 'Projects',
    summary: 'List environments: there are none yet',
    query: EnvironmentQuery,
    responses: { 200: PageOf('environment', Environment) },
  },
})
