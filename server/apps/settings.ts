import { defaultMaxUploadBytes } from '../../shared/deploy.ts'
import { defaultMaxHistoryBytes } from '../../shared/git.ts'
import { defaultMaxDumpBytes } from '../../shared/postgres-transfer.ts'
import { integer, oneOf, parseDomain } from '../platform/settings/parsers.ts'
import type { SettingRows, ValuesOf } from '../platform/settings/setting.ts'

const MIB = 1024 * 1024

export const appSettings = {
  CP_BASE_DOMAIN: { default: 'localhost', flag: '--base-domain', help: 'Services answer at <slug>.<base domain>', parse: parseDomain },
  CP_UPLOAD_MAX_MB: { default: String(defaultMaxUploadBytes / MIB), help: 'Largest source upload, in MiB', parse: integer(1, 1e6) },
  CP_IMPORT_MAX_MB: {
    default: String(defaultMaxDumpBytes / MIB),
    help: 'Largest dump of a database that is taken as an upload, in MiB',
    parse: integer(1, 1e8),
  },
  CP_SOURCE_MAX_MB: { default: '2048', help: 'Largest source once unpacked, in MiB', parse: integer(1, 1e6) },
  CP_GIT_MAX_MB: {
    default: String(defaultMaxHistoryBytes / MIB),
    help: 'Largest history that is kept of what is pushed to a service, in MiB',
    parse: integer(1, 1e6),
  },
  CP_RELEASES_KEPT: { default: '10', help: 'Releases of a service that a rollback can go back to', parse: integer(2, 1000) },
  CP_HEALTH_TIMEOUT_SECONDS: { default: '300', help: 'Longest time a new release may take to become healthy', parse: integer(1, 3600) },
  CP_DRAIN_SECONDS: { default: '30', help: 'Longest time old instances are given to finish their requests', parse: integer(0, 3600) },
  CP_EVENT_RETENTION_DAYS: { default: '365', help: 'How long events are kept, in days', parse: integer(1, 36500) },
  CP_USER_NAMESPACES: {
    default: 'refuse',
    help: 'Whether services that set allowUserNamespaces may make user namespaces, as Chromium does for its sandbox: allow or refuse',
    parse: oneOf(['allow', 'refuse']),
  },
} satisfies SettingRows

export type AppSettings = ValuesOf<typeof appSettings>
