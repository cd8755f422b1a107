import { AppError } from '../../shared/error.ts'
import type { Environment, Project } from '../../shared/project.ts'
import { exampleEnvironment, exampleProject, pageOf } from './examples.ts'
import type { Answers } from './fake-server.ts'

/** Two projects that both have a staging: `shop` with a protected production as well, and `blog`. */
export const shop = exampleProject()
export const blog = exampleProject({ id: 'prj-1b1c2d3e4f5g6h7i8j9k', name: 'blog' })
export const staging = exampleEnvironment()
export const production = exampleEnvironment({
  id: 'evm-1b1c2d3e4f5g6h7i8j9k',
  name: 'production',
  protectedStatus: 'protected',
  networkIsolationEnabled: true,
})
export const blogStaging = exampleEnvironment({ id: 'evm-2b1c2d3e4f5g6h7i8j9k', projectId: blog.id })

interface Places {
  projects?: readonly Project[]
  environments?: readonly Environment[]
}

/** Answers of a server that has these projects and environments, and tells of no others. */
export function servingPlaces({
  projects = [shop, blog],
  environments = [staging, production, blogStaging],
}: Places = {}): Required<Pick<Answers, 'listProjects' | 'getProject' | 'listEnvironments' | 'getEnvironment'>> {
  const one = <T extends { id: string }>(all: readonly T[], id: string | undefined): T => {
    const found = all.find((each) => each.id === id)
    if (found === undefined) throw new AppError('not_found', `There is no ${id}.`)
    return found
  }
  return {
    listProjects: () => pageOf('project', [...projects]),
    getProject: ({ params }) => one(projects, params.projectId),
    listEnvironments: ({ query }) => {
      const only = query.projectId as string[] | undefined
      return pageOf(
        'environment',
        [...environments].reverse().filter(({ projectId }) => only === undefined || only.includes(projectId)),
      )
    },
    getEnvironment: ({ params }) => one(environments, params.environmentId),
  }
}
