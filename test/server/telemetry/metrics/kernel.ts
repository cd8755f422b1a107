import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The files in which the kernel accounts for one instance, version 1 or 2 of control groups. */
function groupFile(serviceId: string, instanceId: string, names: [v1: string, v2: string]): { path: string; isV2: boolean } {
  const [v1, v2] = names
  const found = [...globSync(`/sys/fs/cgroup/*/*/${serviceId}/${instanceId}`), ...globSync(`/sys/fs/cgroup/*/${serviceId}/${instanceId}`)]
  for (const folder of found) {
    if (existsSync(join(folder, v1))) return { path: join(folder, v1), isV2: false }
    if (existsSync(join(folder, v2))) return { path: join(folder, v2), isV2: true }
  }
  throw new Error(`${instanceId} has no control group: this test needs root and control groups`)
}

const keyed = (text: string, key: string): number => Number(new RegExp(`^${key} (\\d+)$`, 'm').exec(text)?.[1] ?? Number.NaN)

/** Processor time of an instance by the kernel's own account, in seconds. */
export function kernelCpuSeconds(serviceId: string, instanceId: string): number {
  const { path, isV2 } = groupFile(serviceId, instanceId, ['cpuacct.usage', 'cpu.stat'])
  const text = readFileSync(path, 'utf8')
  return isV2 ? keyed(text, 'usage_usec') / 1e6 : Number(text) / 1e9
}

/** Memory of an instance by the kernel's own account, in bytes: what is charged to it, without files that it can drop at will. */
export function kernelMemoryBytes(serviceId: string, instanceId: string): number {
  const { path, isV2 } = groupFile(serviceId, instanceId, ['memory.usage_in_bytes', 'memory.current'])
  const stat = readFileSync(join(path, '..', 'memory.stat'), 'utf8')
  return Number(readFileSync(path, 'utf8')) - keyed(stat, isV2 ? 'inactive_file' : 'total_inactive_file')
}
