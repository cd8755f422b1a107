import type { BuildSettings } from '../../builders/port.ts'
import type { StoredService } from './store.ts'

export function buildSettingsOf({ type, settings }: Pick<StoredService, 'type' | 'settings'>): BuildSettings {
  const { runtime, buildCommand, startCommand, publishPath } = settings
  return {
    type,
    ...(runtime === null ? {} : { runtime }),
    ...(buildCommand === '' ? {} : { buildCommand }),
    ...(startCommand === '' ? {} : { startCommand }),
    ...(publishPath === '' ? {} : { publishPath }),
  }
}
