import { integer } from '../platform/settings/parsers.ts'
import type { SettingRows } from '../platform/settings/setting.ts'

export const telemetrySettings = {
  CP_LOG_RETENTION_DAYS: { default: '7', help: 'Days for which log lines are kept', parse: integer(1, 3650) },
  CP_LOG_MAX_MB: { default: '500', help: 'Most log text kept of one service, in MiB', parse: integer(1, 1e6) },
} satisfies SettingRows
