import type { Authorization, Client } from 'acme-client'
import { unlessAborted } from '../../../platform/work/unless-aborted.ts'
import type { EdgeContext } from '../../context.ts'
import type { IngressChallenge, PendingChallenges } from './challenges.ts'
import type { Authority } from './client.ts'
import { cleanUpRecord, presentRecord } from './dns-hook.ts'
import { AcmeProblem } from './problem.ts'
import type { ChallengeKind } from './settings.ts'
import { tlsChallenge } from './tls-challenge.ts'

type Challenge = Authorization['challenges'][number]

export interface ResponderParts {
  context: Pick<EdgeContext, 'db' | 'sealer' | 'now' | 'log' | 'stopping'>
  authority: Authority
  challenges: PendingChallenges
  publish(): Promise<void>
  /** Resolves when no record of an earlier control plane is left to be removed: it may be the very one that is to be set. */
  dnsReady(): Promise<void>
}

interface Task {
  client: Client
  authorization: Authorization
  challenge: Challenge
  signal: AbortSignal
}

/** Returns the challenge that we answer. @throws AcmeProblem when the authority does not offer it. */
export function chooseChallenge(authorization: Authorization, configured: ChallengeKind): Challenge {
  // Only the DNS can prove a wildcard (RFC 8555 section 7.1.3 and the CA/Browser Forum's rules).
  const wanted = authorization.wildcard === true ? 'dns-01' : configured
  const found = authorization.challenges.find(({ type }) => type === wanted)
  if (found !== undefined) return found
  const offered = authorization.challenges.map(({ type }) => type).join(', ')
  throw new AcmeProblem('badAnswer', `It offers ${offered || 'no challenge'} and not ${wanted}, which is set by CP_ACME_CHALLENGE.`)
}

export async function whileAnswered<T>(parts: ResponderParts, task: Task, work: () => Promise<T>): Promise<T> {
  const keyAuthorization = await task.client.getChallengeKeyAuthorization(task.challenge)
  const host = task.authorization.identifier.value
  const { signal } = task
  switch (task.challenge.type as ChallengeKind) {
    case 'dns-01':
      return await whileInDns(parts, { record: { name: `_acme-challenge.${host}`, value: keyAuthorization }, signal }, work)
    case 'tls-alpn-01':
      return await whileShown(parts, { challenge: await tlsChallenge(parts.context, host, keyAuthorization), signal }, work)
    default:
      return await whileShown(parts, { challenge: { kind: 'http', host, token: task.challenge.token, keyAuthorization }, signal }, work)
  }
}

async function whileShown<T>(
  { challenges, publish }: ResponderParts,
  { challenge, signal }: { challenge: IngressChallenge; signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  challenges.add(challenge)
  try {
    await unlessAborted(publish(), signal)
    return await work()
  } finally {
    challenges.remove(challenge)
    // Nobody waits for the removal: it goes with the next publication at the latest.
    publish().catch(() => undefined)
  }
}

async function whileInDns<T>(
  { context, authority, dnsReady }: ResponderParts,
  { record, signal }: { record: { name: string; value: string }; signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  const hook = authority.settings.dnsHook
  if (hook === undefined) throw new AcmeProblem('dnsHook', 'there is none: set CP_ACME_DNS_HOOK')
  await unlessAborted(dnsReady(), signal)
  try {
    await presentRecord(context, hook, { ...record, signal })
    return await work()
  } finally {
    await cleanUpRecord(context, hook, record)
  }
}
