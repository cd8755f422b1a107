import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ReplacedFile } from './mount-plan.ts'
import type { Sandbox } from './spec.ts'

const NAME = 'app'
const READABLE_BY_ALL = 0o644

/** The machine's users and groups, the workload's, and no others: git, ssh, Node's `os.userInfo()` and many others fail for a user that nobody lists. */
export function writeAccounts(recordDir: string, { uid, gid, homeDir }: Sandbox): ReplacedFile[] {
  return [
    accountFile(recordDir, 'passwd', (name) => `${name}:x:${uid}:${gid}:cpd service:${homeDir.replaceAll(/[:\n]/g, '_')}:/bin/sh`),
    accountFile(recordDir, 'group', (name) => `${name}:x:${gid}:`),
    nameSources(recordDir),
  ].filter(({ target }) => existsSync(target))
}

function accountFile(recordDir: string, file: string, lineOf: (name: string) => string): ReplacedFile {
  const target = join('/etc', file)
  const source = join(recordDir, file)
  const others = existsSync(target) ? readFileSync(target, 'utf8').replace(/\n*$/, '\n') : ''
  writeFileSync(source, `${others}${lineOf(freeName(others))}\n`, { mode: READABLE_BY_ALL })
  return { source, target }
}

const ACCOUNT_DATABASES = /^[ \t]*(passwd|group|shadow|gshadow|initgroups|sudoers)[ \t]*:.*$/gm

/** Where names are looked up (nsswitch.conf(5)): for users and groups in files alone, as other sources may lie where a tenant's disk is. */
function nameSources(recordDir: string): ReplacedFile {
  const target = '/etc/nsswitch.conf'
  const source = join(recordDir, 'nsswitch.conf')
  const others = existsSync(target) ? readFileSync(target, 'utf8') : ''
  writeFileSync(source, others.replaceAll(ACCOUNT_DATABASES, '$1: files'), { mode: READABLE_BY_ALL })
  return { source, target }
}

const freeName = (others: string): string => (new RegExp(`^${NAME}:`, 'm').test(others) ? `cpd-${NAME}` : NAME)
