import { bytesOf } from '../../../shared/disk.ts'

/** Nothing may be mounted at these or below them: programs, settings and devices of the machine would be hidden from the app. */
const SYSTEM_DIRS = [
  ...[
    '/bin',
    '/boot',
    '/dev',
    '/etc',
    '/lib',
    '/lib32',
    '/lib64',
    '/libx32',
    '/lost+found',
    '/proc',
    '/root',
    '/run',
    '/sbin',
    '/sys',
    '/usr',
  ],
  ...['/var/lock', '/var/run'],
  // They tell who somebody is: NSS (nss-db, libnss-extrausers), sssd, and the name service's cache.
  ...['/var/db', '/var/lib/extrausers', '/var/lib/sss', '/var/lib/nscd', '/var/cache/nscd', '/var/yp'],
]
const TMP_DIRS = ['/tmp', '/var/tmp']
/** Below these there is room, but they themselves hold what belongs to the machine. */
const SHARED_DIRS = ['/home', '/media', '/mnt', '/opt', '/srv', '/var', '/var/cache', '/var/lib', '/var/log', '/var/opt', '/var/spool']

const MOUNT_PATH = /^(\/[A-Za-z0-9._-]+)+$/

export function mountPathProblem(path: string): string | undefined {
  if (!path.startsWith('/')) return 'The mount path must be absolute, such as /var/data.'
  if (path === '/') return 'A disk cannot take the place of the whole file system. Mount it at a folder, such as /var/data.'
  const parts = path.split('/').slice(1)
  if (parts.some((part) => part === '..' || part === '.' || part === ''))
    return 'The mount path must be a clean one: no "..", no ".", no double slash and none at its end.'
  if (!MOUNT_PATH.test(path)) return 'The mount path may hold letters, digits, ".", "_" and "-" between its slashes.'
  const holder = SYSTEM_DIRS.find((dir) => isAtOrBelow(path, dir))
  if (holder !== undefined) return `${holder} belongs to the system. Mount the disk below /var, /srv, /mnt or /opt, such as at /var/data.`
  if (TMP_DIRS.some((dir) => isAtOrBelow(path, dir)))
    return 'What is below /tmp need not last. Mount the disk at another place, such as /var/data.'
  if (SHARED_DIRS.includes(path)) return `${path} holds folders of the machine. Mount the disk at a folder below it, such as ${path}/data.`
  return undefined
}

const isAtOrBelow = (path: string, dir: string): boolean => path === dir || path.startsWith(`${dir}/`)

export function sizeProblem(sizeGb: number, { given, freeBytes }: { given: number; freeBytes: number }): string | undefined {
  if (sizeGb < given) return `A disk cannot shrink: it has ${given} GB. Make a new one, and copy what is to be kept.`
  const freeGb = Math.floor(freeBytes / bytesOf(1))
  if (bytesOf(sizeGb - given) <= freeBytes) return undefined
  const most = given + freeGb
  return `There is no room for ${sizeGb} GB on the server${most > 0 ? `: at most ${most} GB` : ''}. Free some space, or ask for less.`
}
