import { AppError } from '../../../shared/error.ts'
import { runProcess } from '../../process/spawn.ts'
import type { Guarantee } from '../port.ts'
import type { Controller } from './cgroup-layout.ts'
import { type Cgroups, openCgroups } from './cgroups.ts'

/** What this machine lets us do, found out once by trying. A missing part has its reason in its place. */
export interface Host {
  isRoot: boolean
  cgroups: Cgroups | { reason: string }
  mountNamespace: 'usable' | { reason: string }
}

export interface HostOptions {
  label: string
  cgroupRoot?: string
}

const TOOLS_ENV = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }

/** @throws AppError `not_configured` when the programs that every start needs are missing. */
export async function probeHost({ label, cgroupRoot }: HostOptions): Promise<Host> {
  const isRoot = process.getuid?.() === 0
  const needed = isRoot ? ['setsid', 'setpriv'] : ['setsid']
  await Promise.all(needed.map(requireTool))
  const cgroups = openCgroups(label, cgroupRoot)
  return { isRoot, cgroups, mountNamespace: isRoot ? await probeMountNamespace() : { reason: 'cpd does not run as root' } }
}

async function requireTool(name: string): Promise<void> {
  try {
    const { exitCode } = await runProcess([name, '--version'], { env: TOOLS_ENV })
    if (exitCode === 0) return
  } catch {
    // Told below, in words an operator can use.
  }
  throw new AppError('not_configured', `The program "${name}" is missing: install the package util-linux and start again`)
}

async function probeMountNamespace(): Promise<Host['mountNamespace']> {
  const mount = ['mount', '--no-mtab', '-t', 'tmpfs', 'probe', '/dev/shm']
  const result = await runProcess(['unshare', '--mount', '--ipc', '--propagation', 'slave', ...mount], { env: TOOLS_ENV })
  if (result.exitCode === 0) return 'usable'
  return { reason: `mount namespaces cannot be made (${result.stderr.trim()}); in a container, allow CAP_SYS_ADMIN` }
}

export function usableCgroups(host: Host): Cgroups | undefined {
  return 'reason' in host.cgroups ? undefined : host.cgroups
}

const NOT_ROOT = 'cpd does not run as root, so services run as the same user as cpd; run it as root'

/** What the engine promises about isolation on this machine, and why where it cannot. */
export function guaranteesOf(host: Host): Guarantee[] {
  const asRoot = host.isRoot ? undefined : NOT_ROOT
  const inNamespace = host.mountNamespace === 'usable' ? undefined : host.mountNamespace.reason
  const inGroup = 'reason' in host.cgroups ? host.cgroups.reason : undefined
  return [
    guarantee('own-user', 'Each service runs as a user of its own', asRoot),
    guarantee('no-privileges', 'Services have no capabilities and cannot gain any', asRoot),
    guarantee('private-files', "Services see neither the control plane's folders nor another service's", asRoot ?? inNamespace),
    guarantee('private-tmp', 'Each service has its own /tmp and /dev/shm', inNamespace),
    guarantee('private-processes', "Services do not see each other's processes", inNamespace),
    guarantee('memory-limit', 'Memory is limited to the plan', withoutController(host.cgroups, 'memory')),
    guarantee('cpu-limit', 'Processor time is limited to the plan', withoutController(host.cgroups, 'cpu')),
    guarantee('process-limit', 'The number of processes is limited', withoutController(host.cgroups, 'pids')),
    guarantee('no-escape', 'No process of a service outlives its stop, not even a detached one', inGroup),
  ]
}

function withoutController(cgroups: Host['cgroups'], controller: Controller): string | undefined {
  if ('reason' in cgroups) return cgroups.reason
  return cgroups.controllers.has(controller) ? undefined : `the control group controller "${controller}" is not available to cpd`
}

function guarantee(id: string, title: string, reason: string | undefined): Guarantee {
  return reason === undefined ? { id, title, holds: true } : { id, title, holds: false, reason }
}
