import { invalidValue } from '../../../shared/error.ts'
import type { AppSettings } from '../settings.ts'
import type { ServiceSettings } from './settings.ts'

type Settings = Pick<ServiceSettings, 'allowUserNamespaces'>

/** Rights given earlier stay and count for nothing meanwhile. @throws AppError validation_failed saying how one is permitted. */
export function refuseUserNamespaces(config: Pick<AppSettings, 'CP_USER_NAMESPACES'>, before: Settings, after: Settings): void {
  if (config.CP_USER_NAMESPACES === 'allow' || after.allowUserNamespaces !== true || before.allowUserNamespaces === true) return
  const message =
    'The operator of this server permits no user namespaces. Start it with CP_USER_NAMESPACES=allow, or run Chromium with --no-sandbox.'
  throw invalidValue('/serviceDetails/allowUserNamespaces', message)
}

export const userNamespacesOf = (
  { CP_USER_NAMESPACES }: Pick<AppSettings, 'CP_USER_NAMESPACES'>,
  { settings }: { settings: Settings },
): { allowsUserNamespaces?: true } => (CP_USER_NAMESPACES === 'allow' && settings.allowUserNamespaces ? { allowsUserNamespaces: true } : {})
