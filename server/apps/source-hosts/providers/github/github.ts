import type { Static, TSchema } from '@sinclair/typebox'
import { type HostRepository, REPOSITORIES_PER_PAGE, REQUESTS_PER_PAGE, type SourceHost } from '../../port.ts'
import { PullRequest, requestOf } from '../../pull-request.ts'
import { allPages } from '../all-pages.ts'
import { askHost, type HostRequest } from '../ask.ts'
import { stateOfChecks } from '../check-states.ts'
import type { Reach } from '../reach.ts'
import { pathOf } from '../repository-path.ts'
import type { GithubAppKeys } from './apps.ts'
import { reportToGithub } from './reports.ts'
import {
  GithubCheckRuns,
  GithubComments,
  GithubMade,
  GithubRepositories,
  GithubRepository,
  GithubRequests,
  GithubStatuses,
} from './shapes.ts'
import { githubTokens } from './tokens.ts'

export type AskGithub = <S extends TSchema>(request: HostRequest, schema: S, signal: AbortSignal) => Promise<Static<S>>

const CHECKS_PER_PAGE = 100
const TOKEN_USER = 'x-access-token'

export function openGithub(reach: Reach, { keys, installationId }: { keys: GithubAppKeys; installationId: string }): SourceHost {
  const tokensFor = (signal: AbortSignal) => githubTokens(reach, { keys, installationId, signal })
  const ask: AskGithub = async (request, schema, signal) =>
    askHost(reach, { ...request, headers: githubHeaders(await tokensFor(signal).forApi()) }, schema, signal)
  return {
    provider: 'github',
    async repositories(page, signal) {
      const path = `/installation/repositories?per_page=${REPOSITORIES_PER_PAGE}&page=${page}`
      const { repositories } = await ask({ path }, GithubRepositories, signal)
      return { repositories: repositories.map(repositoryOf), isLast: repositories.length < REPOSITORIES_PER_PAGE }
    },
    repository: async (name, signal) => repositoryOf(await ask({ path: pathOf(name) }, GithubRepository, signal)),
    async tokenFor(repository, signal) {
      const name = repository.split('/')[1] ?? ''
      return { username: TOKEN_USER, token: await tokensFor(signal).forRepository(name) }
    },
    async checksOf(repository, commit, signal) {
      const path = `${pathOf(repository)}/commits/${encodeURIComponent(commit)}`
      const at = (list: string, page: number) => ({ path: `${path}/${list}?per_page=${CHECKS_PER_PAGE}&page=${page}` })
      const statuses = await allPages(CHECKS_PER_PAGE, async (page) => (await ask(at('status', page), GithubStatuses, signal)).statuses)
      const runs = await allPages(CHECKS_PER_PAGE, async (page) => (await ask(at('check-runs', page), GithubCheckRuns, signal)).check_runs)
      return stateOfChecks([...statuses, ...runs.map(({ name, conclusion }) => ({ context: name, state: conclusion ?? 'pending' }))])
    },
    report: (repository, report, signal) => reportToGithub(ask, { repository, report }, signal),
    async comment(repository, { request, text, id }, signal) {
      const issues = `${pathOf(repository)}/issues`
      const asked: HostRequest =
        id === undefined
          ? { method: 'POST', path: `${issues}/${request}/comments`, json: { body: text } }
          : { method: 'PATCH', path: `${issues}/comments/${encodeURIComponent(id)}`, json: { body: text } }
      return String((await ask(asked, GithubMade, signal)).id)
    },
    async findComment(repository, { request, text }, signal) {
      const path = `${pathOf(repository)}/issues/${request}/comments?per_page=100`
      const found = await ask({ path }, GithubComments, signal)
      return found.find(({ body }) => body?.includes(text))?.id.toString()
    },
    async openRequests(repository, page, signal) {
      const path = `${pathOf(repository)}/pulls?state=open&per_page=${REQUESTS_PER_PAGE}&page=${page}`
      const found = await ask({ path }, GithubRequests, signal)
      return { requests: found.map(requestOf), isLast: found.length < REQUESTS_PER_PAGE }
    },
    request: async (repository, number, signal) =>
      requestOf(await ask({ path: `${pathOf(repository)}/pulls/${number}` }, PullRequest, signal)),
  }
}

export const githubHeaders = (token: string): Record<string, string> => ({
  Authorization: `Bearer ${token}`,
  Accept: 'application/vnd.github+json',
  'X-GitHub-Api-Version': '2022-11-28',
})

const repositoryOf = (found: Static<typeof GithubRepository>): HostRepository => ({
  name: found.full_name,
  cloneUrl: found.clone_url,
  url: found.html_url,
  isPrivate: found.private,
  defaultBranch: found.default_branch,
})
