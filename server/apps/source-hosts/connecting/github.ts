import { AppError } from '../../../../shared/error.ts'
import { type SourceHostProblem, sourceHostProblems } from '../../../../shared/source-host.ts'
import type { AuditFacts } from '../../../http/handlers/call.ts'
import { newId } from '../../../platform/id.ts'
import { describeError } from '../../../platform/server-log.ts'
import type { AppContext } from '../../context.ts'
import { retryLooks } from '../../repositories/look-store.ts'
import { type GithubAppKeys, githubAppOf } from '../providers/github/apps.ts'
import { claimedAccount, convertManifest } from '../providers/github/people.ts'
import { githubReach } from '../providers/reach.ts'
import { keepApp } from '../store/apps.ts'
import { type AttemptPurpose, takeAttempt } from '../store/attempts.ts'
import { changeInstallation, insertInstallation, installationOfApp } from '../store/installations.ts'
import { appSecrets } from '../store/secrets.ts'
import { isAppUsed } from './begin.ts'
import { backToPage, mayConnect, personIn } from './browser.ts'
import { isFull } from './gitea.ts'

export interface WayBack {
  request: Request
  signal: AbortSignal
  change<T>(apply: () => T): T
  note(facts: AuditFacts): void
  deny(error: AppError): void
}

interface Begun {
  workspaceId: string
  userId: string
}

type Kept = { target?: string } | { problem: SourceHostProblem }

export async function completeApp(
  context: AppContext,
  call: WayBack,
  { code, state }: { code?: string; state?: string },
): Promise<Response> {
  return comeBack(context, call, { state, purpose: 'app' }, async (begun) => {
    const made = await convertManifest(githubReach(context), code ?? '', call.signal)
    const appId = String(made.id)
    const secrets = { privateKey: made.pem, webhookSecret: made.webhook_secret ?? '', clientSecret: made.client_secret }
    const secretsSealed = appSecrets.seal(context.sealer, appId, secrets)
    return () => {
      if (isAppUsed(context, begun.workspaceId)) return {}
      const { client_id: clientId } = made
      keepApp(context.db, { workspaceId: begun.workspaceId, appId, clientId, secretsSealed, createdAt: context.now() })
      return { target: appId }
    }
  })
}

export interface InstallAnswer {
  code?: string
  state?: string
  installation_id?: string
}

/** Connects an installation that GitHub tells of, when who brings it may dispose of it. */
export async function completeInstall(context: AppContext, call: WayBack, answer: InstallAnswer): Promise<Response> {
  const { code = '', state, installation_id: installationId = '' } = answer
  return comeBack(context, call, { state, purpose: 'install' }, async ({ workspaceId }) => {
    const keys = githubAppOf(context, workspaceId)
    if (keys === undefined) throw new AppError('not_found', 'The workspace has no GitHub App.')
    const account = await claimedAccount(githubReach(context), { keys, code, installationId }, call.signal)
    return () => keepGithub(context, workspaceId, { keys, installationId, account })
  })
}

/** One browser, that of the person who began it, brings one answer back, once; what it leads to is looked up before anything is kept. */
async function comeBack(
  context: AppContext,
  { request, change, note, deny }: WayBack,
  { state = '', purpose }: { state: string | undefined; purpose: AttemptPurpose },
  prepare: (begun: Begun) => Promise<() => Kept>,
): Promise<Response> {
  const { db, publicUrl, now, log } = context
  const refuse = (workspace: string, problem: SourceHostProblem): Response => {
    note({ isUnchanged: true, metadata: { problem } })
    // What comes late has tried nothing, and a host that does not answer is no try of anybody's.
    if (problem !== 'expired' && problem !== 'unreachable') deny(new AppError('forbidden', sourceHostProblems[problem]))
    return backToPage(publicUrl, workspace, problem)
  }
  const user = personIn(context, request)
  const begun = user && takeAttempt(db, { state, userId: user.id, purpose, now: now() })
  if (user === undefined || begun === undefined) return refuse('', 'expired')
  const { workspaceId } = begun
  if (!mayConnect(db, user, workspaceId)) return refuse(workspaceId, 'not_allowed')
  try {
    const keep = await prepare(begun)
    const kept = change((): Kept => {
      if (!mayConnect(db, user, workspaceId)) return { problem: 'not_allowed' }
      const made = keep()
      const actor = { type: 'user' as const, id: user.id, email: user.email }
      if ('target' in made && made.target !== undefined) note({ actor, workspaceIds: [workspaceId], target: made.target })
      else note({ actor, workspaceIds: [workspaceId], isUnchanged: true })
      return made
    })
    return 'problem' in kept ? refuse(workspaceId, kept.problem) : backToPage(publicUrl, workspaceId)
  } catch (error) {
    log.error('source host not connected', describeError(error))
    return refuse(workspaceId, problemOf(error))
  }
}

/** A host that refuses refuses the person; all else is no answer that can be gone by. */
const problemOf = (error: unknown): SourceHostProblem =>
  error instanceof AppError && error.code === 'forbidden' ? 'not_yours' : 'unreachable'

interface Installed {
  keys: GithubAppKeys
  installationId: string
  account: string
}

function keepGithub(context: AppContext, workspaceId: string, { keys, installationId, account }: Installed): Kept {
  const { db } = context
  const present = installationOfApp(db, keys.appId, installationId)
  if (present !== undefined && present.workspaceId !== workspaceId) return { problem: 'taken' }
  const now = context.now()
  if (present !== undefined) {
    changeInstallation(db, present.id, { account, problem: null, updatedAt: now })
    retryLooks(db, { workspaceId }, now)
    return { target: present.id }
  }
  if (isFull(db, workspaceId)) return { problem: 'full' }
  const id = newId('sourceHostInstallation', now)
  const at = { url: githubReach(context).url, appId: keys.appId, externalId: installationId }
  insertInstallation(db, {
    id,
    workspaceId,
    provider: 'github',
    ...at,
    account,
    secretsSealed: null,
    problem: null,
    createdAt: now,
    updatedAt: now,
  })
  retryLooks(db, { workspaceId }, now)
  return { target: id }
}
