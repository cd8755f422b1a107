import type { ProviderId } from '../../../../shared/oauth.ts'
import type { ClientDeps } from './client.ts'
import type { Provider } from './provider.ts'
import type { ProviderSettings } from './settings.ts'

/** The library takes longer to load than most of the server, and most servers need it rarely. */
async function createProvider(settings: ProviderSettings, redirectUri: string, deps: ClientDeps): Promise<Provider> {
  switch (settings.id) {
    case 'github':
      return (await import('./github.ts')).createGithubProvider(settings, redirectUri, deps)
    case 'google':
      return (await import('./openid.ts')).createOpenIdProvider(settings, redirectUri, deps)
    case 'apple':
      return (await import('./apple.ts')).createAppleProvider(settings, redirectUri, deps)
  }
}

export const callbackPathOf = (id: ProviderId): string => `/v1/auth/oauth/${id}/callback`

export function createProviders(publicUrl: string, deps: ClientDeps): (settings: ProviderSettings) => Promise<Provider> {
  const made = new Map<ProviderId, Promise<Provider>>()
  return (settings) => {
    const known = made.get(settings.id)
    if (known !== undefined) return known
    const provider = createProvider(settings, publicUrl + callbackPathOf(settings.id), deps)
    made.set(settings.id, provider)
    return provider
  }
}
