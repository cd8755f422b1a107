import { integer, optionalText } from '../../platform/settings/parsers.ts'
import type { SettingRows, ValuesOf } from '../../platform/settings/setting.ts'

export const backupSettings = {
  CP_BACKUP_RETENTION_DAYS: {
    default: '7',
    help: 'Days that databases can be taken back to, at any second',
    parse: integer(1, 365),
  },
  CP_BACKUP_S3_ENDPOINT: {
    default: '',
    help: 'S3 server that backups of databases are copied to, such as https://s3.eu-central-1.amazonaws.com; empty keeps them on this machine alone',
    whenEmpty: '(none: backups stay on this machine)',
    parse: parseEndpoint,
  },
  CP_BACKUP_S3_REGION: { default: 'us-east-1', help: 'Region of the bucket', parse: (value: string) => value },
  CP_BACKUP_S3_BUCKET: { default: '', help: 'Bucket for backups, which has to be there', whenEmpty: '(none)', parse: optionalText },
  CP_BACKUP_S3_ACCESS_KEY: { default: '', secret: true, help: 'Access key id that may read, write and delete there', parse: optionalText },
  CP_BACKUP_S3_SECRET_KEY: { default: '', secret: true, help: 'Secret of that key', parse: optionalText },
  CP_BACKUP_S3_PREFIX: { default: 'cpd/', help: 'What names of backups begin with in the bucket', parse: parsePrefix },
} satisfies SettingRows

export type BackupSettings = ValuesOf<typeof backupSettings>

function parseEndpoint(value: string): string | undefined {
  if (value === '') return undefined
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) throw new Error(`"${value}" is not an http or https URL`)
  return url.href.replace(/\/+$/, '')
}

function parsePrefix(value: string): string {
  if (!/^[\w.!*'()/-]{0,200}$/.test(value) || value.startsWith('/') || value.split('/').includes('..'))
    throw new Error(`"${value}" is no beginning of names such as backups/cpd/`)
  return value === '' || value.endsWith('/') ? value : `${value}/`
}
