import { existsSync, writeFileSync } from 'node:fs'
import { AppError, messageOf } from '../../../shared/error.ts'
import { runProcess } from '../../platform/process/spawn.ts'
import { systemEnv } from '../../platform/process/system-tools.ts'
import type { Guarantee } from '../port/port.ts'
import { type Cgroups, openCgroups } from './cgroups/cgroups.ts'
import type { Controller } from './cgroups/layouts.ts'
import type { Namespaces } from './kernel/namespace-handles.ts'
import { PROCESS_NAMESPACE } from './launch.ts'
import { filterSteps } from './launch-steps.ts'
import { tableAdvice } from './network/connection-table.ts'
import { type NetworkAbility, probeNetwork } from './network/probe.ts'
import { OWN_ARCHITECTURE } from './step-program/numbers.ts'
import { renderSteps, type Step } from './step-program/steps.ts'

export interface Host {
  isRoot: boolean
  cgroups: Cgroups | { reason: string }
  namespaces: Exclude<Namespaces, 'none'> | { reason: string }
  network: NetworkAbility
  filter: 'calls' | { reason: string }
  hasOwnTerminals: boolean
  hasKeyrings: boolean
}

export interface HostOptions {
  label: string
  stepProgram: string
  cgroupRoot?: string
  isNetworkShared?: boolean
  areNamespacesOff?: boolean
}

/** @throws AppError `not_configured` when the programs that every start needs are missing, or ours cannot be run. */
export async function probeHost(options: HostOptions): Promise<Host> {
  const { label, stepProgram, cgroupRoot, isNetworkShared = false, areNamespacesOff = false } = options
  const isRoot = process.getuid?.() === 0
  const ability = isNetworkShared ? { reason: 'CP_INSTANCE_SUBNET is off' } : isRoot ? probeNetwork() : { reason: NOT_ROOT_NETWORK }
  const [namespaces, network, filter] = await Promise.all([
    areNamespacesOff ? OFF : probeNamespaces(isRoot ? 'machine' : 'user'),
    ability,
    probeFilter(stepProgram),
    ...['setsid', 'setpriv'].map(requireTool),
  ])
  const cgroups = openCgroups(label, cgroupRoot)
  const hasOwnTerminals = typeof namespaces === 'string' && (await probeTerminals(namespaces))
  const kernel = { filter, hasOwnTerminals, hasKeyrings: existsSync('/proc/keys') }
  return { isRoot, cgroups, namespaces, network: typeof namespaces === 'string' ? network : namespaces, ...kernel }
}

async function probeFilter(program: string): Promise<Host['filter']> {
  const list = `${program}.probe`
  const problemWith = async (steps: Step[]) => {
    writeFileSync(list, renderSteps({ steps }, OWN_ARCHITECTURE), { mode: 0o600 })
    return await problemOf([program, list, '/bin/true'])
  }
  const problem = await onceNobodyWritesIt(() => problemWith([]))
  if (problem !== undefined)
    throw new AppError('not_configured', `${program} cannot be run (${problem}): is its file system mounted with noexec? Mount it without.`)
  const refusal = await problemWith(filterSteps({ allowsUserNamespaces: false }))
  return refusal === undefined ? 'calls' : { reason: `this kernel filters no system calls (CONFIG_SECCOMP_FILTER): ${refusal}` }
}

const BUSY = { attempts: 50, waitMs: 20 }

/** A child that another thread has forked while the file was written holds it open until its own program begins (ETXTBSY in execve(2)). */
async function onceNobodyWritesIt(run: () => Promise<string | undefined>): Promise<string | undefined> {
  for (let attempt = 1; ; attempt++) {
    const problem = await run()
    if (attempt === BUSY.attempts || !problem?.includes('ETXTBSY')) return problem
    await Bun.sleep(BUSY.waitMs)
  }
}

const NOT_ROOT_NETWORK = 'cpd does not run as root, so services share the network of this machine; run it as root'

const OFF = { reason: 'namespaces are turned off' }

async function requireTool(name: string): Promise<void> {
  try {
    const { exitCode } = await runProcess([name, '--version'], { env: systemEnv })
    if (exitCode === 0) return
  } catch {}
  throw new AppError('not_configured', `The program "${name}" is missing: install the package util-linux and start again`)
}

async function probeNamespaces(kind: Exclude<Namespaces, 'none'>): Promise<Host['namespaces']> {
  const problem = await problemOf([...inside(kind), 'mount', '--no-mtab', '-t', 'proc', 'probe', '/proc'])
  return problem === undefined ? kind : { reason: `${problem}${NAMESPACE_ADVICE[kind]}` }
}

const inside = (kind: Exclude<Namespaces, 'none'>): string[] => [
  ...PROCESS_NAMESPACE[kind],
  ...['--fork', '--mount', '--ipc', '--propagation', 'slave'],
]

/** Kernels differ in whether an ordinary user may mount one, and some containers have no /dev/pts. */
async function probeTerminals(kind: Exclude<Namespaces, 'none'>): Promise<boolean> {
  const mount = ['mount', '--no-mtab', '-t', 'devpts', '-o', 'newinstance,max=64,ptmxmode=0666', 'probe', '/dev/pts']
  return (await problemOf([...inside(kind), ...mount])) === undefined
}

async function problemOf(argv: string[]): Promise<string | undefined> {
  try {
    const { exitCode, stderr } = await runProcess(argv, { env: systemEnv })
    return exitCode === 0 ? undefined : stderr.trim() || `it ended with ${exitCode}`
  } catch (error) {
    return messageOf(error)
  }
}

const NAMESPACE_ADVICE: Record<Exclude<Namespaces, 'none'>, string> = {
  machine: '; namespaces cannot be made: in a container, allow CAP_SYS_ADMIN and an unmasked /proc',
  user:
    '; cpd does not run as root and this user may make no namespaces: run cpd as root, or allow it' +
    ' (sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0, user.max_user_namespaces above 0)',
}

export function usableCgroups(host: Host): Cgroups | undefined {
  return 'reason' in host.cgroups ? undefined : host.cgroups
}

export const namespacesIn = ({ namespaces }: Pick<Host, 'namespaces'>): Namespaces => (typeof namespaces === 'string' ? namespaces : 'none')

const NOT_ROOT = 'cpd does not run as root, so services run as the same user as cpd; run it as root'

const NO_TERMINALS = 'this kernel lets an ordinary user mount no devpts: run cpd as root'
const NOT_ROOT_KEYS = 'cpd does not run as root, so services share the keys of its user; run it as root'

export function guaranteesOf(host: Host): Guarantee[] {
  const asOwnUser = host.isRoot ? undefined : NOT_ROOT
  const inNamespace = typeof host.namespaces === 'string' ? undefined : host.namespaces.reason
  const inGroup = 'reason' in host.cgroups ? host.cgroups.reason : undefined
  return [
    guarantee('own-user', 'Each service runs as a user of its own', asOwnUser),
    guarantee('no-privileges', 'Services have no capabilities and cannot gain any', undefined),
    guarantee('filtered-calls', 'System calls that no app needs are refused', host.filter === 'calls' ? undefined : host.filter.reason),
    guarantee('private-files', "Services see neither the control plane's folders nor another service's", inNamespace),
    guarantee('private-tmp', 'Each service has its own /tmp and /dev/shm', inNamespace),
    guarantee(
      'own-terminals',
      'Services make terminals of their own, 64 each',
      inNamespace ?? (host.hasOwnTerminals ? undefined : NO_TERMINALS),
    ),
    guarantee('own-keys', 'Services have a keyring of their own', host.isRoot ? undefined : NOT_ROOT_KEYS),
    guarantee('private-processes', 'Services neither see nor signal processes that are not their own', inNamespace),
    guarantee('memory-limit', 'Memory is limited to the plan', withoutController(host.cgroups, 'memory')),
    guarantee('cpu-limit', 'Processor time is limited to the plan', withoutController(host.cgroups, 'cpu')),
    guarantee('process-limit', 'The number of processes is limited', withoutController(host.cgroups, 'pids')),
    guarantee(
      'no-escape',
      'No process of a service outlives its stop, not even a detached one',
      inNamespace === undefined ? undefined : inGroup,
    ),
    ...networkGuarantees(host.network),
  ]
}

function networkGuarantees(network: NetworkAbility): Guarantee[] {
  const reason = 'reason' in network ? network.reason : undefined
  const blockedBy = 'reason' in network ? undefined : network.blockedBy
  const advice = `the chain ${blockedBy} of another firewall drops forwarded packets; let it accept those from and to interfaces named cpd*`
  return [
    guarantee('own-network', 'Instances have a network of their own: two on the same port never meet', reason),
    guarantee(
      'private-network',
      'Private services are reached by services of their workspace only, in an isolated environment by its own only',
      reason,
    ),
    guarantee('no-control-egress', "Services reach neither the platform's ports nor the machine's own, nor a cloud's metadata", reason),
    guarantee('connection-limit', "No service can fill the machine's table of connections", reason ?? countAdvice(network)),
    guarantee('internet', 'Services reach the internet', blockedBy === undefined ? undefined : advice),
  ]
}

function countAdvice(network: NetworkAbility): string | undefined {
  const cannotCount = 'the kernel does not count connections by address; load the module nft_connlimit'
  return 'hasCounts' in network && !network.hasCounts ? cannotCount : tableAdvice()
}

function withoutController(cgroups: Host['cgroups'], controller: Controller): string | undefined {
  if ('reason' in cgroups) return cgroups.reason
  return cgroups.controllers.has(controller) ? undefined : `the control group controller "${controller}" is not available to cpd`
}

function guarantee(id: string, title: string, reason: string | undefined): Guarantee {
  return reason === undefined ? { id, title, holds: true } : { id, title, holds: false, reason }
}
