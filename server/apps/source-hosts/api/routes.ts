import { AppError } from '../../../../shared/error.ts'
import type { Operations } from '../../../../shared/operations/all.ts'
import { type RepositoryQuery, type SourceHostName, unavailableHeader } from '../../../../shared/source-host.ts'
import { DEFAULT_PAGE_ITEMS, decodeCursor, pageOf } from '../../../http/answers/page.ts'
import { type Actor, answer, type Handlers } from '../../../http/handlers/call.ts'
import type { AppContext } from '../../context.ts'
import { beginApp, installUrl } from '../connecting/begin.ts'
import { keepGitea, personOf } from '../connecting/gitea.ts'
import { completeApp, completeInstall } from '../connecting/github.ts'
import { receiveGitea, receiveGithub } from '../deliveries/receive.ts'
import { requireConfigured } from '../hosts/configured.ts'
import { openInstallation } from '../hosts/open.ts'
import { presentInstallation, presentRepository, statusOf } from '../hosts/present.ts'
import { searchRepositories, toldToCaller } from '../hosts/repositories.ts'
import { deleteInstallation, installationById, installationsOf, type StoredInstallation } from '../store/installations.ts'

type SourceHostIds = Extract<keyof Operations, `${string}${'SourceHost' | 'Github' | 'Gitea'}${string}`>

interface Asked {
  actor: Actor
  signal: AbortSignal
}

const status =
  (only?: SourceHostName) =>
  ({ actor }: Asked, context: AppContext) =>
    statusOf(context, actor.workspaceId, only)

const install =
  (only?: SourceHostName) =>
  async ({ actor, signal }: Asked, context: AppContext) => ({
    url: await installUrl(context, actor, { ...(only && { only }), signal }),
  })

const repos =
  (only?: SourceHostName) =>
  async ({ actor, query, signal }: Asked & { query: RepositoryQuery }, context: AppContext) => {
    requireConfigured(context, actor.workspaceId, only)
    const position = decodeCursor(query.cursor, ['string', 'number'])
    const { search = '', limit = DEFAULT_PAGE_ITEMS, installationId } = query
    const after = position && { installationId: String(position[0]), index: Number(position[1]) }
    const all = installationsOf(context.db, actor.workspaceId, only)
    const asked = installationId === undefined ? all : all.filter(({ id }) => id === installationId)
    if (installationId !== undefined && asked.length === 0) throw noSuchAccount()
    const open = (installation: StoredInstallation) => openInstallation(context, installation)
    const { found, unavailable } = await searchRepositories(asked, { search, limit, after }, { open, signal })
    const [first] = unavailable
    if (first !== undefined && unavailable.length === asked.length) await toldToCaller(() => Promise.reject(first.error))
    const positions = found.map(({ installation, index }) => [installation.id, index] as const)
    const presented = found.map(({ installation, repository }, at) => ({ ...presentRepository(installation, repository), at }))
    const page = pageOf('repo', presented, ({ at }) => positions[at] ?? []).map(({ repo: { at: _, ...repo }, cursor }) => ({
      repo,
      cursor,
    }))
    return answer(200, page, first && { [unavailableHeader]: unavailable.map(({ installation }) => installation.id).join() })
  }

const noSuchAccount = (): AppError =>
  new AppError('not_found', 'This workspace is not connected to it. GET /v1/sourcehost/status lists the accounts that it is connected to.')

export const sourceHostRoutes: Handlers<SourceHostIds, AppContext> = {
  getSourceHostStatus: status(),
  getGithubStatus: status('github'),
  getGiteaStatus: status('gitea'),
  listSourceHostRepos: repos(),
  listGithubRepos: repos('github'),
  listGiteaRepos: repos('gitea'),
  getSourceHostInstall: install(),
  getGithubInstall: install('github'),
  getGiteaInstall: install('gitea'),
  async connectGitea({ actor, body, signal, change, note }, context) {
    const person = await personOf(context, body.token, signal)
    return change(() => {
      const made = keepGitea(context, actor.workspaceId, { ...person, token: body.token })
      context.work.poke('sourceHost', made.id)
      note({ target: made.id, metadata: { provider: made.provider, account: made.account } })
      return presentInstallation(made)
    })
  },
  disconnectSourceHost({ actor, params, note }, { db }) {
    const installation = installationById(db, params.installationId)
    if (installation?.workspaceId !== actor.workspaceId) throw noSuchAccount()
    deleteInstallation(db, installation.id)
    note({ metadata: { provider: installation.provider, account: installation.account } })
  },
  beginGithubApp: ({ actor }, context) => beginApp(context, actor),
  completeGithubApp: (call, context) => completeApp(context, call, call.query),
  completeGithubInstall: (call, context) => completeInstall(context, call, call.query),
  receiveGithubDelivery: (call, context) => receiveGithub(context, call),
  receiveGiteaDelivery: (call, context) =>
    receiveGitea(context, { ...call, installationId: call.query.installation ?? '', repo: call.query.repo ?? '' }),
}
