import type { Static } from '@sinclair/typebox'
import type { HostRepository, SourceHost } from '../../port.ts'
import { REPOSITORIES_PER_PAGE, REQUESTS_PER_PAGE } from '../../port.ts'
import { PullRequest, requestOf } from '../../pull-request.ts'
import { allPages } from '../all-pages.ts'
import { askHost, type HostRequest } from '../ask.ts'
import { stateOfChecks } from '../check-states.ts'
import { commitStatusOf } from '../commit-status.ts'
import type { Reach } from '../reach.ts'
import { pathOf } from '../repository-path.ts'
import { giteaHooks } from './hooks.ts'
import { GiteaComments, GiteaMade, GiteaRepositories, GiteaRepository, GiteaRequests, GiteaStatuses, GiteaUser } from './shapes.ts'

const STATUSES_PER_PAGE = 50

export const authorized = (token: string, request: HostRequest): HostRequest => ({
  ...request,
  headers: { Authorization: `token ${token}` },
})

export const giteaUserOf = (reach: Reach, token: string, signal: AbortSignal): Promise<Static<typeof GiteaUser>> =>
  askHost(reach, authorized(token, { path: '/user' }), GiteaUser, signal)

/** An account at a Gitea or Forgejo, with a token of the person's. Hosts of this kind have no token of one repository. */
export function openGitea(reach: Reach, { account, token }: { account: string; token: string }): SourceHost {
  const as = (request: HostRequest) => authorized(token, request)
  return {
    provider: 'gitea',
    async repositories(page, signal) {
      const found = await askHost(reach, as({ path: `/user/repos?page=${page}&limit=${REPOSITORIES_PER_PAGE}` }), GiteaRepositories, signal)
      return { repositories: found.map(repositoryOf), isLast: found.length < REPOSITORIES_PER_PAGE }
    },
    repository: async (name, signal) => repositoryOf(await askHost(reach, as({ path: pathOf(name) }), GiteaRepository, signal)),
    tokenFor: async () => ({ username: account, token }),
    async checksOf(repository, commit, signal) {
      const path = `${pathOf(repository)}/commits/${encodeURIComponent(commit)}/status`
      const statuses = await allPages(1, async (page) => {
        const request = as({ path: `${path}?page=${page}&limit=${STATUSES_PER_PAGE}` })
        return (await askHost(reach, request, GiteaStatuses, signal)).statuses ?? []
      })
      return stateOfChecks(statuses.map(({ status, context }) => ({ context, state: status })))
    },
    async report(repository, report, signal) {
      const json = commitStatusOf(report)
      const path = `${pathOf(repository)}/statuses/${encodeURIComponent(report.commit)}`
      if (json !== undefined) await askHost(reach, as({ method: 'POST', path, json }), GiteaMade, signal)
      return null
    },
    async comment(repository, { request, text, id }, signal) {
      const issues = `${pathOf(repository)}/issues`
      const asked: HostRequest =
        id === undefined
          ? { method: 'POST', path: `${issues}/${request}/comments`, json: { body: text } }
          : { method: 'PATCH', path: `${issues}/comments/${encodeURIComponent(id)}`, json: { body: text } }
      return String((await askHost(reach, as(asked), GiteaMade, signal)).id)
    },
    async findComment(repository, { request, text }, signal) {
      const path = `${pathOf(repository)}/issues/${request}/comments`
      const found = await askHost(reach, as({ path }), GiteaComments, signal)
      return found.find(({ body }) => body.includes(text))?.id.toString()
    },
    async openRequests(repository, page, signal) {
      const path = `${pathOf(repository)}/pulls?state=open&limit=${REQUESTS_PER_PAGE}&page=${page}`
      const found = await askHost(reach, as({ path }), GiteaRequests, signal)
      return { requests: found.map(requestOf), isLast: found.length === 0 }
    },
    request: async (repository, number, signal) =>
      requestOf(await askHost(reach, as({ path: `${pathOf(repository)}/pulls/${number}` }), PullRequest, signal)),
    hooks: giteaHooks(reach, as),
  }
}

const repositoryOf = (found: Static<typeof GiteaRepository>): HostRepository => ({
  name: found.full_name,
  cloneUrl: found.clone_url,
  url: found.html_url,
  isPrivate: found.private,
  defaultBranch: found.default_branch,
})
