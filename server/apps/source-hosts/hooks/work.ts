import type { Database } from 'bun:sqlite'
import { AppError } from '../../../../shared/error.ts'
import { describeError } from '../../../platform/server-log.ts'
import { createDriver } from '../../../platform/work/driver.ts'
import type { AppContext } from '../../context.ts'
import { serviceById, servicesOfWorkspace } from '../../services/store.ts'
import { hookSecretOf } from '../deliveries/signature.ts'
import { locate } from '../hosts/credential.ts'
import { ifConfigured, openInstallation } from '../hosts/open.ts'
import { pauseAfterRefusal } from '../pauses.ts'
import type { SourceHost } from '../port.ts'
import { changeHook, forgetHook, hooksOf, type StoredHook, wantHook } from '../store/hooks.ts'
import { installationById, installationsOf, personalInstallations, type StoredInstallation } from '../store/installations.ts'
import { personalSecrets } from '../store/secrets.ts'
import { type HookStep, nextHookAt, planHooks } from './plan.ts'

type HookContext = Pick<AppContext, 'after' | 'config' | 'db' | 'log' | 'lookup' | 'now' | 'publicUrl' | 'sealer' | 'stopping'>

export interface HookWork {
  poke(installationId: string): void
  readonly ofServices: { poke(serviceId: string): void }
  pokeAll(): void
  settled(): Promise<void>
}

/** Sees to it that each repository that is deployed from has a webhook, where a host has no app with one of its own. */
export function createHookWork(context: HookContext): HookWork {
  const driver = createDriver({
    run: (installationId) => reconcile(context, installationId),
    onError: (installationId, error) => context.log.error('webhooks at a source host failed', { installationId, ...describeError(error) }),
    now: context.now,
    after: context.after,
    signal: context.stopping,
  })
  const pokeThose = (installations: readonly StoredInstallation[]) => {
    for (const { id } of installations) driver.poke(id)
  }
  return {
    poke: driver.poke,
    ofServices: {
      poke(serviceId) {
        const service = serviceById(context.db, serviceId)
        if (service !== undefined && service.labels.repo !== '') pokeThose(installationsOf(context.db, service.workspaceId, 'gitea'))
      },
    },
    pokeAll: () => pokeThose(personalInstallations(context.db)),
    settled: driver.settled,
  }
}

async function reconcile(context: HookContext, installationId: string): Promise<number | undefined> {
  const { db, now } = context
  const installation = installationById(db, installationId)
  const host = installation && ifConfigured(() => openInstallation(context, installation))
  if (installation === undefined || host?.hooks === undefined) return undefined
  const wanted = deployedFrom(context, installation)
  for (const repo of wanted) wantHook(db, { installationId, repo }, now())
  for (const step of planHooks({ wanted, hooks: hooksOf(db, installationId), now: now() }))
    await take(context, { installation, host }, step)
  return nextHookAt({ wanted, hooks: hooksOf(db, installationId) })
}

function deployedFrom(context: HookContext, { id, workspaceId }: StoredInstallation): ReadonlySet<string> {
  const located = servicesOfWorkspace(context.db, workspaceId)
    .filter(({ deletedAt, labels }) => deletedAt === null && labels.repo !== '')
    .map(({ labels }) => ifConfigured(() => locate(context, workspaceId, labels.repo)))
  return new Set(located.flatMap((one) => (one?.installation.id === id ? [one.name] : [])))
}

interface At {
  installation: StoredInstallation
  host: SourceHost
}

async function take(context: HookContext, { installation, host }: At, step: HookStep): Promise<void> {
  const { db, now, publicUrl, sealer, stopping: signal } = context
  const { hook } = step
  try {
    if (step.do === 'remove') {
      // A request that changes something is not led on to where a repository has gone: its name is asked for.
      const current = hook.hookId === null ? undefined : await nameOf(host, hook.repo, signal)
      if (hook.hookId !== null && current !== undefined) await host.hooks?.remove(current, hook.hookId, signal)
      return forgetHook(db, hook)
    }
    const { webhookSecret } = personalSecrets.open(sealer, installation.id, installation.secretsSealed ?? '')
    const url = `${publicUrl}/v1/gitea/webhook?${new URLSearchParams({ installation: installation.id, repo: hook.repo })}`
    const hookId = await host.hooks?.ensure(hook.repo, { url, secret: hookSecretOf(webhookSecret, hook.repo) }, signal)
    changeHook(db, hook, { hookId: hookId ?? null, problem: null, attempts: 0 })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    postpone(db, hook, { error, now: now() })
  }
}

/** What a repository is called now; undefined for one that is gone, with its webhooks. */
async function nameOf(host: SourceHost, repository: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    return (await host.repository(repository, signal)).name
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return undefined
    throw error
  }
}

function postpone(db: Database, hook: StoredHook, { error, now }: { error: AppError; now: number }): void {
  const attempts = hook.attempts + 1
  changeHook(db, hook, { problem: error.message, attempts, nextAttemptAt: now + pauseAfterRefusal(error, attempts) })
}
