import { createHash } from 'node:crypto'
import { chmod, mkdir, readdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runProcess } from '../../server/platform/process/spawn.ts'
import { progress } from '../soak/outcome.ts'
import { guestFiles, guestLinks, packages } from './guest-files.ts'

const SUITE = 'bookworm'
const MIRROR = 'http://deb.debian.org/debian'
const DISK_BYTES = 6 * 1024 ** 3
const TOOLS_PATH = '/usr/sbin:/usr/bin:/sbin:/bin'
const DEBOOTSTRAP_TIMEOUT_MS = 20 * 60_000
const STEP_TIMEOUT_MS = 5 * 60_000

/** What a machine is started from; the same files serve any number of machines, which do not change them. */
export interface GuestImage {
  kernel: string
  initrd: string
  disk: string
}

/**
 * A Debian with its own kernel on an ext4 with user quotas. It is made once for what is in it and kept below the system's folder
 * for temporary files, so that the next run begins at once.
 *
 * @throws when the machine lacks debootstrap or the mirror, with their words.
 */
export async function guestImage(): Promise<GuestImage> {
  const contents = JSON.stringify([SUITE, packages, guestFiles, guestLinks, DISK_BYTES])
  const dir = join(tmpdir(), `cpd-guest-${createHash('sha256').update(contents).digest('hex').slice(0, 12)}`)
  if (!(await Bun.file(join(dir, 'disk')).exists())) await makeOnce(dir)
  return { kernel: join(dir, 'kernel'), initrd: join(dir, 'initrd'), disk: join(dir, 'disk') }
}

async function makeOnce(dir: string): Promise<void> {
  const making = `${dir}.making-${process.pid}`
  try {
    await make(making)
    await rename(making, dir)
  } finally {
    await rm(making, { recursive: true, force: true })
  }
}

async function make(dir: string): Promise<void> {
  const tree = join(dir, 'tree')
  await mkdir(tree, { recursive: true })
  progress(`making a Debian ${SUITE}; it is kept for the next runs`)
  await tool(['debootstrap', '--variant=minbase', `--include=${packages.join(',')}`, SUITE, tree, MIRROR], DEBOOTSTRAP_TIMEOUT_MS)
  await addOwnFiles(tree)
  await tool(['chroot', tree, 'update-initramfs', '-u'])
  await rm(join(tree, 'var/cache/apt/archives'), { recursive: true, force: true })
  const boot = join(tree, 'boot')
  const files = await readdir(boot)
  const named = (prefix: string) => join(boot, files.find((name) => name.startsWith(prefix)) ?? prefix)
  await rename(named('vmlinuz-'), join(dir, 'kernel'))
  await rename(named('initrd.img-'), join(dir, 'initrd'))
  progress('writing its disk')
  await makeDisk(tree, join(dir, 'disk'))
  await rm(tree, { recursive: true, force: true })
}

async function addOwnFiles(tree: string): Promise<void> {
  for (const { path, mode, content } of guestFiles) {
    const place = join(tree, path)
    await mkdir(dirname(place), { recursive: true })
    await writeFile(place, content)
    await chmod(place, mode)
  }
  for (const { path, target } of guestLinks) {
    const place = join(tree, path)
    await mkdir(dirname(place), { recursive: true })
    await rm(place, { force: true })
    await symlink(target, place)
  }
}

/** The check at the end counts what every user owns already, which making a file system out of a folder does not. */
async function makeDisk(tree: string, disk: string): Promise<void> {
  await writeFile(disk, '')
  await truncate(disk, DISK_BYTES)
  await tool(['mke2fs', '-q', '-t', 'ext4', '-O', 'quota', '-E', 'quotatype=usrquota', '-d', tree, disk])
  await tool(['e2fsck', '-f', '-y', disk], STEP_TIMEOUT_MS, [0, 1])
}

async function tool(argv: readonly string[], timeoutMs = STEP_TIMEOUT_MS, expected: readonly number[] = [0]): Promise<void> {
  const { exitCode, stdout, stderr } = await runProcess(argv, { env: { PATH: TOOLS_PATH, DEBIAN_FRONTEND: 'noninteractive' }, timeoutMs })
  if (exitCode === null || !expected.includes(exitCode)) {
    throw new Error(`${argv.slice(0, 3).join(' ')} … failed with ${exitCode}: ${`${stdout}\n${stderr}`.trim().slice(-2000)}`)
  }
}
