import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = '/sys/fs/cgroup'
const PERIOD_US = 100_000

/**
 * Gives a server and all it has started the share of the processors that a workload with this plan has: on a machine with other work a
 * group of processes gets less of them than as many that are in none. Returns what removes the group, once they have ended.
 */
export function confine(pid: number, cpu: number): () => void {
  const isV1 = existsSync(join(ROOT, 'cpu/cpu.shares'))
  const group = join(ROOT, isV1 ? 'cpu' : '', `cpd-bench-${pid}`)
  mkdirSync(group)
  const quota = String(cpu * PERIOD_US)
  if (isV1) writeFileSync(join(group, 'cpu.cfs_quota_us'), quota)
  else writeFileSync(join(group, 'cpu.max'), `${quota} ${PERIOD_US}`)
  writeFileSync(join(group, 'cgroup.procs'), String(pid))
  for (const child of childrenOf(pid)) move(child, group)
  return () => rmdirSync(group)
}

/** A child that has ended meanwhile needs no share. */
function move(child: number, group: string): void {
  try {
    writeFileSync(join(group, 'cgroup.procs'), String(child))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

function childrenOf(pid: number): number[] {
  const parentOf = (child: string) => Number(/^\d+ \(.*\) \S (\d+)/.exec(read(`/proc/${child}/stat`))?.[1])
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number)
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
