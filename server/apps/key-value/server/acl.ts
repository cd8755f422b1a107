import { createHash } from 'node:crypto'

/** The platform's own user. Nobody else learns its password, and the way in from outside knows no such name. */
export const ADMIN_USER = 'cpd'

/**
 * What a tenant may not do in a server of their own: have it run other code, read or write files, reach other hosts from it, take away
 * what the platform set, stop it, or make a copy of the process. All other commands are theirs, scripts and functions included.
 */
const refused = [
  'config',
  'debug',
  'module',
  'shutdown',
  'replicaof',
  'slaveof',
  'acl',
  'cluster',
  'sync',
  'psync',
  'replconf',
  'failover',
  'save',
  'bgrewriteaof',
  'migrate',
  'restore-asking',
  'pfdebug',
  'pfselftest',
  'script|debug',
  'client|no-evict',
]

const tenantRules = ['~*', '&*', '+@all', ...refused.map((command) => `-${command}`), '+acl|whoami']

/** Servers keep the SHA-256 of passwords, which is no help to who does not know a random one. */
const hashed = (password: string): string => `#${createHash('sha256').update(password).digest('hex')}`

export interface Passwords {
  admin: string
  tenant: readonly string[]
}

/** Rules of the tenant's user, as `ACL SETUSER` takes them: nothing is left of what was said before. */
export const tenantUser = (name: string, { tenant }: Passwords): string[] => [name, 'reset', 'on', ...tenant.map(hashed), ...tenantRules]

/** Lines of a configuration file: nobody without a name gets in. */
export const userLines = (name: string, passwords: Passwords): string[] => [
  'user default reset off',
  `user ${ADMIN_USER} on ${hashed(passwords.admin)} ~* &* +@all`,
  `user ${tenantUser(name, passwords).join(' ')}`,
]
