import type { DeployKey } from '../../../../shared/deploy-key.ts'
import { AppError } from '../../../../shared/error.ts'
import { parseRepositoryUrl } from '../../../../shared/repository.ts'
import { inOneChange } from '../../../platform/db/change.ts'
import type { AppContext } from '../../context.ts'
import type { CredentialSource } from '../access/credential.ts'
import { hostOf } from '../git/ssh.ts'
import { fingerprintOf, newKeyPair } from './openssh.ts'
import { deployKeyOf, hostKeyOf, hostKeysOf, pinHostKey, putDeployKey, type StoredDeployKey, type StoredHostKey } from './store.ts'

type KeyContext = Pick<AppContext, 'db' | 'now' | 'sealer'>

const purposeOf = (serviceId: string): string => `deploy-key:${serviceId}`

export const showDeployKey = (context: KeyContext, serviceId: string): DeployKey => presentKey(context, ensureDeployKey(context, serviceId))

export const rotateDeployKey = (context: KeyContext, serviceId: string): DeployKey => presentKey(context, makeDeployKey(context, serviceId))

export const deployKeyCredentials =
  (context: KeyContext): CredentialSource =>
  async ({ serviceId, url: text }) => {
    const url = parseRepositoryUrl(text)
    if (url?.scheme !== 'ssh') return undefined
    const { db, sealer } = context
    const host = hostOf(url)
    const { privateKeySealed } = ensureDeployKey(context, serviceId)
    return {
      kind: 'deploy_key',
      privateKey: sealer.open(privateKeySealed, purposeOf(serviceId)),
      hostKey: hostKeyOf(db, { serviceId, host })?.publicKey,
      pin: (publicKey) => pin(context, { serviceId, host, publicKey, pinnedAt: context.now() }),
    }
  }

const ensureDeployKey = (context: KeyContext, serviceId: string): StoredDeployKey =>
  inOneChange(context.db, () => deployKeyOf(context.db, serviceId) ?? makeDeployKey(context, serviceId))

function makeDeployKey({ db, now, sealer }: KeyContext, serviceId: string): StoredDeployKey {
  const { publicKey, privateKey } = newKeyPair(`cpd-${serviceId}`)
  const key = { serviceId, publicKey, privateKeySealed: sealer.seal(privateKey, purposeOf(serviceId)), createdAt: now() }
  putDeployKey(db, key)
  return key
}

/** Two fetches may have come to the host at once for the first time. @throws AppError conflict where they have met different keys. */
function pin({ db }: KeyContext, seen: StoredHostKey): string | undefined {
  const known = inOneChange(db, () => {
    const before = hostKeyOf(db, seen)
    if (before === undefined) pinHostKey(db, seen)
    return before?.publicKey
  })
  if (known === seen.publicKey) return undefined
  if (known === undefined) return `The host key of ${seen.host} is ${fingerprintOf(seen.publicKey)}. Any other one is refused from now on.`
  throw new AppError('conflict', `${seen.host} shows different host keys at the same time, so that none can be trusted. Try again later.`)
}

const presentKey = ({ db }: KeyContext, { serviceId, publicKey, createdAt }: StoredDeployKey): DeployKey => ({
  serviceId,
  publicKey,
  fingerprint: fingerprintOf(publicKey),
  createdAt: new Date(createdAt).toISOString(),
  hostKeys: hostKeysOf(db, serviceId).map(({ host, publicKey: hostKey, pinnedAt }) => ({
    host,
    publicKey: hostKey,
    fingerprint: fingerprintOf(hostKey),
    pinnedAt: new Date(pinnedAt).toISOString(),
  })),
})
