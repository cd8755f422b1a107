import { expect, test } from 'vitest'
import { mountOf } from '../../../../server/engines/process/quota/mounts.ts'
import { openDiskQuota } from '../../../../server/engines/process/quota/quota.ts'
import {
  clearQuotaArgv,
  isEnforced,
  printStateArgv,
  quotaAdvice,
  setQuotaArgv,
} from '../../../../server/engines/process/quota/quota-plan.ts'
import { makeDataDir } from '../../../support/data-dir.ts'

const mount = { mountPoint: '/srv/data', type: 'ext4', source: '/dev/vdb1' }

test('a user is limited in space and in files, with hard limits only, and the limit is lifted by zeros', () => {
  expect(setQuotaArgv(20_001, { mb: 1024, files: 131_072 }, mount)).toEqual([
    'setquota',
    '-u',
    '20001',
    '0',
    '1048576',
    '0',
    '131072',
    '/srv/data',
  ])
  expect(clearQuotaArgv(20_001, mount)).toEqual(['setquota', '-u', '20001', '0', '0', '0', '0', '/srv/data'])
  expect(printStateArgv(mount)).toEqual(['quotaon', '-p', '-u', '/srv/data'])
})

test('quotas that are only counted do not count', () => {
  expect(isEnforced('user quota on /srv/data (/dev/vdb1) is on\n')).toBe(true)
  expect(isEnforced('user quota on /srv/data (/dev/vdb1) is on (enforced)\n')).toBe(true)
  expect(isEnforced('user quota on /srv/data (/dev/vdb1) is on (accounting)\n')).toBe(false)
  expect(isEnforced('user quota on /srv/data (/dev/vdb1) is off\n')).toBe(false)
  expect(isEnforced('')).toBe(false)
})

test('the operator is told the commands for their own file system, and what holds until then', () => {
  expect(quotaAdvice(mount)).toContain('mount -o remount,usrquota /srv/data && quotacheck -cum /srv/data && quotaon /srv/data')
  expect(quotaAdvice(mount)).toContain('tune2fs -O quota /dev/vdb1')
  expect(quotaAdvice({ ...mount, type: 'xfs' })).toContain('rootflags=uquota')
  expect(quotaAdvice({ ...mount, type: 'tmpfs' })).toContain('put the data directory on ext4 or xfs')
  expect(quotaAdvice(mount)).toContain('who fills the disk is stopped')
})

const mountinfo = [
  '21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw',
  '30 21 0:20 / /srv rw - tmpfs tmpfs rw',
  '31 30 254:16 / /srv/data rw - xfs /dev/vdb rw',
  '32 31 254:17 / /srv/data rw shared:9 master:1 - ext4 /dev/vdb1 rw',
  '33 21 0:40 / /with\\040space rw - btrfs /dev/vdc rw',
].join('\n')

test.each([
  ['/srv/data/cpd', '/dev/vdb1'],
  ['/srv/data', '/dev/vdb1'],
  ['/srv/database', 'tmpfs'],
  ['/var/lib/cpd', '/dev/vda'],
  ['/with space/cpd', '/dev/vdc'],
])('%s is on %s', (path, source) => {
  expect(mountOf(mountinfo, path)?.source).toBe(source)
})

test('a machine without quotas gives no guarantee and its reason, and limiting does nothing there', async () => {
  const data = makeDataDir()
  const problems: unknown[] = []
  const quota = await openDiskQuota({ dataDir: data.dir, isRoot: false, onError: (error) => problems.push(error) })
  expect(quota.guarantee).toMatchObject({ id: 'disk-limit', holds: false, reason: expect.stringContaining('run it as root') })
  await quota.limit(20_001, { mb: 1, files: 1 })
  await quota.limit(20_001, undefined)
  expect(problems).toEqual([])
  data.remove()
})
