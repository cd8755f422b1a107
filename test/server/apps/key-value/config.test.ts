import { expect, test } from 'vitest'
import { cutsOff } from '../../../../server/apps/key-value/rules.ts'
import { configFile, diskOf, maxmemoryOf } from '../../../../server/apps/key-value/server/config.ts'
import { connectionStrings } from '../../../../server/apps/key-value/server/connection-strings.ts'
import { readInfo } from '../../../../server/apps/key-value/server/info.ts'
import { startCommand } from '../../../../server/apps/key-value/server/start-command.ts'
import { asTold, keyValuePlanNames } from '../../../../shared/key-value.ts'

const id = 'red-0b1c2d3e4f5g6h7i8j9k'
const start = {
  plan: 'starter',
  maxmemoryPolicy: 'allkeys_lru',
  persistenceMode: 'journal_snapshot',
  laid: 'journal_snapshot',
  user: id,
  passwords: { admin: 'admin-secret', tenant: ['first-secret', 'second-secret'] },
  hasOwnNetwork: true,
} as const

test('keys have three quarters of the plan, and the disk has room for them several times', () => {
  expect(maxmemoryOf('starter')).toBe(192 * 1024 * 1024)
  expect(keyValuePlanNames.map(diskOf)).toEqual([1, 1, 4, 19, 38])
})

test('the configuration lets nobody in without a name, and holds no password in clear', () => {
  const lines = configFile(start).split('\n')
  expect(lines).toContain('user default reset off')
  expect(lines).toContain('maxmemory-policy allkeys-lru')
  expect(lines).toContain('appendonly yes')
  const tenant = lines.find((line) => line.startsWith(`user ${id} `)) ?? ''
  expect(tenant.match(/#[0-9a-f]{64}/g)).toHaveLength(2)
  for (const command of ['config', 'module', 'debug', 'shutdown', 'replicaof', 'acl', 'migrate']) expect(tenant).toContain(` -${command} `)
  expect(configFile(start)).not.toMatch(/secret/)
})

test('a server that shares its network listens on loopback alone', () => {
  expect(configFile({ ...start, hasOwnNetwork: false })).toContain('bind 127.0.0.1\n')
})

test('one that keeps nothing writes nothing, and begins without what it had', () => {
  expect(configFile({ ...start, persistenceMode: 'off', laid: 'off' })).toMatch(/^save ""$/m)
  expect(startCommand('off')).toContain('rm -rf appendonlydir dump.rdb')
  expect(startCommand('journal_snapshot')).not.toContain('rm -rf')
})

test('both spellings mean one thing', () => {
  expect([asTold('allkeys-lru'), asTold('allkeys_lru'), asTold('journal-snapshot'), asTold('off')]).toEqual([
    'allkeys_lru',
    'allkeys_lru',
    'journal_snapshot',
    'off',
  ])
})

test('strings for connections name the store as user, inside and outside', () => {
  expect(connectionStrings({ id, password: 'pw' }, { host: 'kv.example.com', port: 6380 })).toEqual({
    internalConnectionString: `redis://${id}:pw@${id}:6379`,
    externalConnectionString: `rediss://${id}:pw@kv.example.com:6380`,
    cliCommand: `REDISCLI_AUTH=pw redis-cli --user ${id} -h kv.example.com -p 6380 --tls`,
  })
  expect(connectionStrings({ id, password: 'pw' }, undefined)).toMatchObject({ externalConnectionString: '', cliCommand: '' })
})

test('figures are read out of the answer to INFO', () => {
  const text =
    '# Persistence\r\nloading:0\r\naof_enabled:1\r\naof_last_bgrewrite_status:ok\r\naof_last_write_status:ok\r\n' +
    'rdb_last_save_time:5\r\nvalkey_version:9.1.2\r\nredis_version:7.2.4\r\ndb0:keys=4,expires=0\r\ndb3:keys=2,expires=1\r\n'
  expect(readInfo(text)).toMatchObject({ isJournaling: true, isJournalGood: true, lastSnapshotAt: 5000, version: '9.1.2', keys: 6 })
})

test('a change cuts people off when it restarts, keeps less, removes keys or lets fewer in', () => {
  const ipAllowList = [{ cidrBlock: '203.0.113.0/24', description: '' }]
  const before = { plan: 'starter', maxmemoryPolicy: 'noeviction', persistenceMode: 'snapshot', ipAllowList } as const
  const settings = { ...before, ipAllowList: [...ipAllowList] }
  expect(cutsOff(settings, { ...settings, persistenceMode: 'journal_snapshot' })).toBe(false)
  expect(cutsOff(settings, { ...settings, ipAllowList: [...ipAllowList, { cidrBlock: '0.0.0.0/0', description: '' }] })).toBe(false)
  for (const change of [{ plan: 'pro' }, { persistenceMode: 'off' }, { maxmemoryPolicy: 'allkeys_lru' }, { ipAllowList: [] }] as const)
    expect(cutsOff(settings, { ...settings, ...change, ipAllowList: 'ipAllowList' in change ? [] : settings.ipAllowList })).toBe(true)
})
