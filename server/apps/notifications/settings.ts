import type { NotificationSettings, NotificationSettingsPatch } from '../../../shared/notification.ts'
import type { AppContext } from '../context.ts'
import { policyOf, requireUrl } from '../webhooks/url.ts'
import { putSettings, type StoredSettings, settingsOf } from './settings-store.ts'

type SettingsContext = Pick<AppContext, 'db' | 'sealer' | 'config' | 'mailer'>
type Chat = 'slack' | 'discord'

const purposeOf = (workspaceId: string, chat: Chat): string => `notifications:${workspaceId}:${chat}`

export function channelUrl({ sealer }: Pick<AppContext, 'sealer'>, settings: StoredSettings, chat: Chat): string | undefined {
  const sealed = chat === 'slack' ? settings.slackUrlSealed : settings.discordUrlSealed
  return sealed === null ? undefined : sealer.open(sealed, purposeOf(settings.workspaceId, chat))
}

export function changeSettings(context: SettingsContext, workspaceId: string, patch: NotificationSettingsPatch): StoredSettings {
  const before = settingsOf(context.db, workspaceId)
  const settings = {
    workspaceId,
    toSend: patch.notificationsToSend ?? before.toSend,
    isEmailEnabled: patch.emailEnabled ?? before.isEmailEnabled,
    arePreviewsEnabled: patch.previewNotificationsEnabled ?? before.arePreviewsEnabled,
    slackUrlSealed: sealedUrl(context, { workspaceId, chat: 'slack', given: patch.slackUrl, before: before.slackUrlSealed }),
    discordUrlSealed: sealedUrl(context, { workspaceId, chat: 'discord', given: patch.discordUrl, before: before.discordUrlSealed }),
  }
  putSettings(context.db, settings)
  return settings
}

interface GivenUrl {
  workspaceId: string
  chat: Chat
  given: string | null | undefined
  before: string | null
}

function sealedUrl({ sealer, config }: SettingsContext, { workspaceId, chat, given, before }: GivenUrl): string | null {
  if (given === undefined) return before
  if (given === null || given === '') return null
  return sealer.seal(requireUrl(given, policyOf(config), `/${chat}Url`), purposeOf(workspaceId, chat))
}

/** The settings as callers see them: of the URLs only as much as tells them apart. */
export function presentSettings(context: SettingsContext, settings: StoredSettings): NotificationSettings {
  const slackUrl = channelUrl(context, settings, 'slack')
  const discordUrl = channelUrl(context, settings, 'discord')
  return {
    ownerId: settings.workspaceId,
    notificationsToSend: settings.toSend,
    emailEnabled: settings.isEmailEnabled,
    previewNotificationsEnabled: settings.arePreviewsEnabled,
    slackEnabled: slackUrl !== undefined,
    ...(slackUrl !== undefined && { slackUrl: maskedUrl(slackUrl) }),
    discordEnabled: discordUrl !== undefined,
    ...(discordUrl !== undefined && { discordUrl: maskedUrl(discordUrl) }),
    isMailConfigured: context.mailer.isConfigured,
  }
}

const SHOWN_CHARS = 4
const LONG_CHARS = 16

export function maskedUrl(url: string): string {
  const { origin } = new URL(url)
  const rest = url.slice(origin.length)
  return `${origin}/…${rest.length >= LONG_CHARS ? rest.slice(-SHOWN_CHARS) : ''}`
}
