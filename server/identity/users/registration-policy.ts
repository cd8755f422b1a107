import { AppError } from '../../../shared/error.ts'
import type { HttpSettings } from '../../http/settings.ts'
import { isLoopback, isLoopbackHost } from '../../platform/network/address.ts'
import type { IdentitySettings } from '../settings.ts'

export type RegistrationSettings = Pick<
  IdentitySettings & HttpSettings,
  'CP_REGISTRATION' | 'CP_LISTEN' | 'CP_PUBLIC_URL' | 'CP_TRUSTED_PROXIES'
>

export type RegistrationPolicy = 'open' | 'invite' | 'closed'

export function registrationPolicy(settings: RegistrationSettings): RegistrationPolicy {
  if (settings.CP_REGISTRATION !== '') return settings.CP_REGISTRATION
  return isThisMachineAlone(settings) ? 'open' : 'invite'
}

/** A public URL or a proxy in front says that others reach us, though we listen on loopback. */
function isThisMachineAlone({ CP_LISTEN, CP_PUBLIC_URL, CP_TRUSTED_PROXIES }: RegistrationSettings): boolean {
  const isLocalUrl = CP_PUBLIC_URL === undefined || isLoopbackHost(new URL(CP_PUBLIC_URL).hostname)
  return isLoopback(CP_LISTEN) && isLocalUrl && CP_TRUSTED_PROXIES.length === 0
}

/** @throws AppError `forbidden` for who may not make an account here; said before anything is looked up. */
export function refuseRegistration(settings: RegistrationSettings, isInvited: boolean): void {
  const policy = registrationPolicy(settings)
  if (policy === 'closed')
    throw new AppError('forbidden', 'This server takes no new accounts: its operator has set CP_REGISTRATION to closed.')
  if (policy === 'invite' && !isInvited)
    throw new AppError('forbidden', 'Registration is by invitation here. Ask an administrator for an invite, and open its link.')
}
