import type { SpaceLimit } from '../../port/port.ts'
import type { Mount } from './mounts.ts'

const KIB_PER_MIB = 1024

export const setQuotaArgv = (uid: number, { mb, files }: SpaceLimit, { mountPoint }: Pick<Mount, 'mountPoint'>): string[] => [
  'setquota',
  '-u',
  String(uid),
  '0',
  String(mb * KIB_PER_MIB),
  '0',
  String(files),
  mountPoint,
]

export const clearQuotaArgv = (uid: number, mount: Pick<Mount, 'mountPoint'>): string[] => setQuotaArgv(uid, { mb: 0, files: 0 }, mount)

export const printStateArgv = ({ mountPoint }: Pick<Mount, 'mountPoint'>): string[] => ['quotaon', '-p', '-u', mountPoint]

/** Whether its output says so: newer versions tell being counted only from being enforced. */
export const isEnforced = (output: string): boolean => /^user quota on .* is on(?! \(accounting\))/m.test(output)

const meanwhile = 'until then, who fills the disk is stopped when the space that must stay free is reached (CP_DISK_RESERVE_MB)'

export function quotaAdvice({ mountPoint, type, source }: Mount): string {
  return `${adviceFor(type, mountPoint, source)}; ${meanwhile}`
}

function adviceFor(type: string, mountPoint: string, source: string): string {
  const fstab = `in /etc/fstab, add usrquota to the options of ${mountPoint}`
  if (type === 'ext4')
    return (
      `${source} at ${mountPoint} has no user quotas: ${fstab}, then run \`mount -o remount,usrquota ${mountPoint} && quotacheck -cum ${mountPoint} && quotaon ${mountPoint}\` ` +
      `(or, while it is unmounted, \`tune2fs -O quota ${source}\`), and start cpd again`
    )
  if (type === 'xfs')
    return `${source} at ${mountPoint} has no user quotas: ${fstab} (for the root file system, rootflags=uquota to the kernel's command line) and restart the machine`
  return `${mountPoint} is ${type}, which has no quotas for users: put the data directory on ext4 or xfs mounted with usrquota`
}
