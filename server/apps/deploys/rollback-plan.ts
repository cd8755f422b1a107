import type { RollbackPlan } from '../../../shared/deploy.ts'
import type { ServiceSettings } from '../services/settings.ts'
import type { ReleaseSecrets } from '../variables/release-secrets.ts'

export interface ReleaseFacts {
  deployId: string
  artifact: string
  settings: ServiceSettings
  secrets: ReleaseSecrets
}

export function differencesOf(from: ReleaseFacts, to: ReleaseFacts): Omit<RollbackPlan, 'strategy'> {
  return {
    fromDeployId: from.deployId,
    toDeployId: to.deployId,
    code: { changes: from.artifact !== to.artifact, from: from.artifact, to: to.artifact },
    envVars: compare(
      from.secrets.envVars.map(({ key, value }) => [key, value]),
      to.secrets.envVars.map(({ key, value }) => [key, value]),
    ),
    secretFiles: compare(
      from.secrets.secretFiles.map(({ name, content }) => [name, content]),
      to.secrets.secretFiles.map(({ name, content }) => [name, content]),
    ),
    settings: changedSettings(from.settings, to.settings),
  }
}

function compare(from: [string, string][], to: [string, string][]): RollbackPlan['envVars'] {
  const before = new Map(from)
  const after = new Map(to)
  return {
    added: [...after.keys()].filter((key) => !before.has(key)),
    removed: [...before.keys()].filter((key) => !after.has(key)),
    changed: [...after.keys()].filter((key) => before.has(key) && before.get(key) !== after.get(key)),
  }
}

function changedSettings(from: ServiceSettings, to: ServiceSettings): RollbackPlan['settings'] {
  const names = Object.keys(to) as (keyof ServiceSettings)[]
  return names.map((name) => ({ name, from: printed(from[name]), to: printed(to[name]) })).filter((setting) => setting.from !== setting.to)
}

const printed = (value: ServiceSettings[keyof ServiceSettings]): string => (typeof value === 'string' ? value : JSON.stringify(value))
