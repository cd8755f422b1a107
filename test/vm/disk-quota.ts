import { clearQuotaArgv, isEnforced, printStateArgv, setQuotaArgv } from '../../server/disk-space/quota-plan.ts'
import type { Machine } from './machine.ts'

const mount = { mountPoint: '/mnt/quota', type: 'ext4', source: '/root/quota.img' }
const UID = 70_001
const LIMIT_MB = 16

const prepare = `
set -e
truncate -s 256M ${mount.source}
mkfs.ext4 -q -O quota -E quotatype=usrquota ${mount.source}
mkdir -p ${mount.mountPoint}
mount -o loop,usrquota ${mount.source} ${mount.mountPoint}
chmod 1777 ${mount.mountPoint}
`

const writeAs = (uid: number, megabytes: number): string =>
  `setpriv --reuid ${uid} --regid ${uid} --clear-groups dd if=/dev/zero of=${mount.mountPoint}/of-${uid} bs=1M count=${megabytes} 2>&1`

const createAs = (uid: number, files: number): string =>
  `setpriv --reuid ${uid} --regid ${uid} --clear-groups bash -c 'mkdir -p ${mount.mountPoint}/many-${uid} && cd ${mount.mountPoint}/many-${uid} && for n in $(seq ${files}); do : > $n || exit 1; done' 2>&1`

/**
 * Proves on a kernel with quotas that the commands of server/disk-space/quota-plan.ts limit one user and nobody else. Takes a guest whose
 * Debian has the packages quota and e2fsprogs.
 *
 * @throws Error saying what of it the guest lacks, or which limit did not hold.
 */
export async function proveDiskQuota(machine: Pick<Machine, 'run'>): Promise<void> {
  const expectRun = async (script: string, isRight: (output: string, exitCode: number) => boolean, what: string) => {
    const { exitCode, output } = await machine.run(script)
    if (!isRight(output, exitCode)) throw new Error(`${what}: exit code ${exitCode}\n${script}\n${output}`)
  }
  const succeeds = (_: string, exitCode: number) => exitCode === 0
  const exceeds = (output: string, exitCode: number) => exitCode !== 0 && output.includes('Disk quota exceeded')
  try {
    await expectRun(prepare, succeeds, 'The guest has no ext4 with user quotas: its kernel needs CONFIG_QUOTA and CONFIG_QFMT_V2')
    const isOn = (output: string) => isEnforced(output)
    await expectRun(printStateArgv(mount).join(' '), isOn, 'Quotas are not enforced: the guest needs the package quota')
    await expectRun(setQuotaArgv(UID, LIMIT_MB, mount).join(' '), succeeds, 'The limit could not be set')
    await expectRun(writeAs(UID, LIMIT_MB * 2), exceeds, 'The limited user wrote more than the limit')
    await expectRun(createAs(UID, LIMIT_MB * 128 + 1), exceeds, 'The limited user made more files than the limit')
    await expectRun(writeAs(UID + 1, LIMIT_MB * 2), succeeds, 'Another user was limited')
    await expectRun(clearQuotaArgv(UID, mount).join(' '), succeeds, 'The limit could not be lifted')
    await expectRun(writeAs(UID, LIMIT_MB * 2), succeeds, 'The limit was still there after it was lifted')
  } finally {
    await machine.run(`umount ${mount.mountPoint}; rm -f ${mount.source}`)
  }
}
