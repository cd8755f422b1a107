import { existsSync } from 'node:fs'
import type { Guarantee } from '../port/port.ts'
import type { Host } from './host.ts'
import type { VolumeMounts } from './spec.ts'

const TOOL_FOLDERS = ['/usr/sbin', '/usr/bin', '/sbin', '/bin']
const IMAGE_TOOLS = {
  e2fsprogs: ['mkfs.ext4', 'e2fsck', 'resize2fs', 'e2image'],
  mount: ['losetup'],
  findutils: ['xargs'],
  'util-linux': ['fsfreeze', 'fallocate', 'nsenter'],
}

export function volumeMountsOf(host: Pick<Host, 'isRoot' | 'namespaces'>): VolumeMounts {
  if (typeof host.namespaces !== 'string') return 'nowhere'
  return whyNoImages(host) === undefined ? 'images' : 'folders'
}

export function diskGuaranteesOf(host: Pick<Host, 'isRoot' | 'namespaces'>): Guarantee[] {
  const inNamespace = typeof host.namespaces === 'string' ? undefined : host.namespaces.reason
  return [
    guarantee('disk-path', 'A disk is at its mount path; where not, $CPD_DISK_PATH tells where it is', inNamespace),
    guarantee('disk-size', 'A disk has its size and no more, and its space is kept for it', inNamespace ?? whyNoImages(host)),
  ]
}

function whyNoImages({ isRoot }: Pick<Host, 'isRoot'>): string | undefined {
  if (!isRoot) return 'cpd does not run as root, so disks are plain folders without a limit; run it as root'
  if (!existsSync('/dev/loop-control')) return 'there are no loop devices: load the module "loop", or give the container /dev/loop-control'
  const missing = Object.entries(IMAGE_TOOLS).find(([, tools]) => !tools.every(isThere))
  return missing && `a program of the package ${missing[0]} is missing: install it and start again`
}

const isThere = (tool: string): boolean => TOOL_FOLDERS.some((folder) => existsSync(`${folder}/${tool}`))

const guarantee = (id: string, title: string, reason: string | undefined): Guarantee =>
  reason === undefined ? { id, title, holds: true } : { id, title, holds: false, reason }
