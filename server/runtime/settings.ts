import { resolve } from 'node:path'
import { integer, list, optionalText } from '../platform/settings/parsers.ts'
import type { SettingRows, ValuesOf } from '../platform/settings/setting.ts'

export const runtimeSettings = {
  CP_DATA_DIR: {
    default: (isRoot) => (isRoot ? '/var/lib/cpd' : './data'),
    flag: '--data',
    help: 'Folder that holds everything',
    parse: (value: string) => resolve(value),
  },
  CP_DISK_RESERVE_MB: {
    default: '',
    help: 'MiB that stay free on the disk of the data: below that, whoever fills it is stopped; 0 stops nobody',
    whenEmpty: '(1 GiB or 2 % of the disk, at most a tenth of it)',
    parse: (value: string) => (value === '' ? undefined : integer(0, 1e9)(value)),
  },
  CP_POSTGRES_DIR: {
    default: '',
    help: 'Folders with PostgreSQL of your own (bin/postgres in each), comma-separated, in place of the one inside',
    whenEmpty: '(the one inside)',
    parse: (value: string) => list(value),
  },
  CP_VALKEY_PROGRAM: {
    default: '',
    help: 'A valkey-server or redis-server of your own, in place of the one inside',
    whenEmpty: '(the one inside)',
    parse: optionalText,
  },
  CP_PGBOUNCER_PROGRAM: {
    default: '',
    help: 'A pgbouncer of your own (1.21 or newer), for databases with `connectionPool`',
    whenEmpty: "(the machine's)",
    parse: optionalText,
  },
} satisfies SettingRows

export type RuntimeSettings = ValuesOf<typeof runtimeSettings>
