/**
 * What a workload sees of the file system, as a list of mounts for its own mount namespace.
 *
 * A workload sees the machine's files under the machine's permissions, except that /tmp and /dev/shm are its own, /proc shows its own
 * processes only, and the control plane's folders are empty. A folder that it must reach may lie below one that it
 * may not enter: a toolchain or the whole data directory in root's home, or anything under the real /tmp. The closed folder is then
 * covered with an empty one and the needed folders are bound to their old places in it. They are put aside first, because
 * nothing below a covered folder can be found any more. A disk comes last, over whatever is at its path.
 */

import { overlayOver, type PlacedDisk, putInPlace, takeAside } from './disk-mount.ts'

export interface BoundDir {
  path: string
  isReadOnly: boolean
}

export interface ReplacedFile {
  source: string
  target: string
}

export interface FileSystemView {
  tmpDir: string
  needed: BoundDir[]
  closedDirs: string[]
  hiddenDirs: string[]
  openDirs?: readonly string[]
  emptyDirs?: readonly string[]
  hasOwnTerminals?: boolean
  /** Its /proc tells of all processes in its namespace, and not just of those it may trace: a shell beside an app is below it in rights. */
  showsAllProcesses?: boolean
  disk?: PlacedDisk
  replacedFiles?: readonly ReplacedFile[]
}

export interface Mount {
  source: string
  target: string
  type: 'none' | 'tmpfs' | 'proc' | 'ext4' | 'overlay' | 'devpts'
  options: string
}

const TMP_DIRS = ['/tmp', '/var/tmp']
const ASIDE_DIR = '/dev/shm'
const DISK_ASIDE = `${ASIDE_DIR}/disk`
const SKELETON_ASIDE = `${ASIDE_DIR}/skeleton`

const EMPTY_DIR_OPTIONS = 'size=1m,nosuid,nodev'
/** A screen or tmux of some dozens of windows fits; the machine has 4096. */
const TERMINAL_OPTIONS = 'newinstance,max=64,ptmxmode=0666,mode=600,nosuid,noexec'
const SHARED_MEMORY_OPTIONS = 'mode=1777,nosuid,nodev'

export function planMounts(view: FileSystemView): Mount[] {
  const { disk, replacedFiles = [] } = view
  const covered = outermost([...TMP_DIRS, ...view.closedDirs])
  const isEmptied = (path: string) => covered.some((dir) => isWithin(path, dir))
  const overlaid = disk?.overlaidDir === undefined || isEmptied(disk.overlaidDir) ? undefined : disk.overlaidDir
  const isCovered = (path: string) => isEmptied(path) || (overlaid !== undefined && isWithin(path, overlaid))
  const kept = withoutNested(view.needed).filter((dir) => isCovered(dir.path))
  const aside = new Map([view.tmpDir, ...kept.map((dir) => dir.path)].map((path, index) => [path, `${ASIDE_DIR}/${index}`]))
  const placeOf = (path: string) => aside.get(path) ?? path
  const emptied = outermost(view.hiddenDirs).filter((dir) => !isEmptied(dir) || kept.some((one) => isWithin(dir, one.path)))
  return [
    { source: 'aside', target: ASIDE_DIR, type: 'tmpfs', options: SHARED_MEMORY_OPTIONS },
    ...[...aside].map(([source, target]) => bind(source, target)),
    ...replacedFiles.map((file): Mount => ({ ...file, type: 'none', options: 'bind,ro,nosuid,nodev,noexec' })),
    ...(disk === undefined ? [] : [takeAside(disk, DISK_ASIDE)]),
    ...(disk === undefined || overlaid === undefined ? [] : overlayOver(overlaid, disk, SKELETON_ASIDE)),
    ...covered.map((dir) => (TMP_DIRS.includes(dir) ? bind(placeOf(view.tmpDir), dir) : emptyDir(dir, '755'))),
    ...kept.map((dir) => bind(placeOf(dir.path), dir.path, dir.isReadOnly)),
    ...view.needed.filter((dir) => dir.isReadOnly && !isCovered(dir.path)).map((dir) => bind(dir.path, dir.path, true)),
    ...emptied.map((dir) => emptyDir(dir, '0')),
    ...(view.emptyDirs ?? []).map((dir) => emptyDir(dir, '555')),
    ...(view.hasOwnTerminals ? [{ source: 'terminals', target: '/dev/pts', type: 'devpts', options: TERMINAL_OPTIONS } as const] : []),
    ...(view.openDirs ?? []).map((dir) => emptyDir(dir, '1777')),
    ...(disk === undefined ? [] : [putInPlace(disk, DISK_ASIDE, isEmptied(disk.target))]),
    { source: 'shm', target: ASIDE_DIR, type: 'tmpfs', options: SHARED_MEMORY_OPTIONS },
    { source: 'own', target: '/proc', type: 'proc', options: `${view.showsAllProcesses ? '' : 'hidepid=2,'}nosuid,nodev,noexec` },
  ]
}

function bind(source: string, target: string, isReadOnly = false): Mount {
  return { source, target, type: 'none', options: `bind,${isReadOnly ? 'ro,' : ''}nosuid,nodev,X-mount.mkdir` }
}

function emptyDir(target: string, mode: string): Mount {
  return { source: 'empty', target, type: 'tmpfs', options: `mode=${mode},${EMPTY_DIR_OPTIONS}` }
}

export function isWithin(path: string, dir: string): boolean {
  return path === dir || path.startsWith(dir === '/' ? dir : `${dir}/`)
}

function outermost(dirs: string[]): string[] {
  const unique = [...new Set(dirs)]
  return unique.filter((dir) => !unique.some((other) => other !== dir && isWithin(dir, other)))
}

function withoutNested(dirs: BoundDir[]): BoundDir[] {
  const sorted = [...dirs].sort((a, b) => a.path.length - b.path.length || Number(a.isReadOnly) - Number(b.isReadOnly))
  return sorted.filter(
    (dir, index) => !sorted.slice(0, index).some((other) => isWithin(dir.path, other.path) && (dir.isReadOnly || !other.isReadOnly)),
  )
}

export function renderFstab(mounts: Mount[]): string {
  return mounts
    .map(({ source, target, type, options }) => `${escapeField(source)} ${escapeField(target)} ${type} ${options} 0 0\n`)
    .join('')
}

function escapeField(path: string): string {
  return path.replace(/[\s\\#]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`)
}
