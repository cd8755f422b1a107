import { closeSync, openSync, writeFileSync } from 'node:fs'
import { AppError } from '../../../../shared/error.ts'
import { spawnProcess } from '../../../platform/process/spawn.ts'
import { systemEnv } from '../../../platform/process/system-tools.ts'
import { gatewayOf, hexOf, type Subnet } from './addresses.ts'
import { batchOf, runTool } from './tools.ts'

/**
 * A network namespace that nothing runs in yet, held by a descriptor of ours alone: when we die the kernel takes it back, and its link
 * and route with it. Once a workload has entered, it lives exactly as long as the last process of the workload.
 */
export interface Namespace {
  address: string
  path: string
  release(): void
}

export interface LinkSettings {
  linkPrefix: string
  subnet: Subnet
  mtu: number
  hasIpv6: boolean
  isLoopbackNeeded: boolean
}

/** Both ends know each other's: nobody has to ask, so nobody can answer for another, and no first packet has to wait. */
const HOST_MAC = '02:63:70:64:00:01'
const INSTANCE_MAC = '02:63:70:64:00:02'

const DEVICE = 'eth0'

export function insideCommands({ linkPrefix, subnet, mtu, hasIpv6 }: LinkSettings, address: string, hostPid: number): string[] {
  const gateway = gatewayOf(subnet)
  const link = `${linkPrefix}${hexOf(address)}`
  return [
    `link add ${DEVICE} mtu ${mtu} address ${INSTANCE_MAC} type veth peer name ${link} mtu ${mtu} address ${HOST_MAC} netns ${hostPid}`,
    'link set lo up',
    ...(hasIpv6 ? [`link set ${DEVICE} addrgenmode none`] : []),
    `addr add ${address}/32 dev ${DEVICE}`,
    `link set ${DEVICE} up`,
    `route add ${gateway} dev ${DEVICE} scope link`,
    `route add default via ${gateway} dev ${DEVICE}`,
    `neigh add ${gateway} lladdr ${HOST_MAC} dev ${DEVICE} nud permanent`,
    // Its answer tells that everything before it is done.
    'link show dev lo',
  ]
}

export function outsideCommands({ linkPrefix, subnet, hasIpv6 }: LinkSettings, address: string): string[] {
  const gateway = gatewayOf(subnet)
  const link = `${linkPrefix}${hexOf(address)}`
  return [
    ...(hasIpv6 ? [`link set ${link} addrgenmode none`] : []),
    `addr add ${gateway}/32 dev ${link}`,
    `link set ${link} up`,
    `route add ${address}/32 dev ${link} src ${gateway}`,
    `neigh add ${address} lladdr ${INSTANCE_MAC} dev ${link} nud permanent`,
  ]
}

/** @throws AppError `unavailable` with the machine's own words when it refuses. */
export async function makeNamespace(settings: LinkSettings, address: string): Promise<Namespace> {
  const descriptor = await openInside(insideCommands(settings, address, process.pid))
  let isHeld = true
  const release = () => {
    if (isHeld) closeSync(descriptor)
    isHeld = false
  }
  try {
    await runTool(['ip', '-batch', '-'], batchOf(outsideCommands(settings, address)))
    if (settings.isLoopbackNeeded) allowLoopback(settings.linkPrefix, address)
  } catch (error) {
    release()
    throw error
  }
  return { address, path: `/proc/${process.pid}/fd/${descriptor}`, release }
}

async function openInside(commands: readonly string[]): Promise<number> {
  const child = spawnProcess(['unshare', '--net', 'ip', '-batch', '-'], {
    env: systemEnv,
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
    detached: true,
  })
  const complaint = new Response(child.stderr).text()
  await Promise.resolve(child.stdin?.write(batchOf(commands))).catch(() => {})
  await Promise.resolve(child.stdin?.flush()).catch(() => {})
  const reader = child.stdout?.getReader()
  const isReady = (await reader?.read())?.done === false
  const descriptor = isReady ? openSync(`/proc/${child.pid}/ns/net`, 'r') : undefined
  await Promise.resolve(child.stdin?.end()).catch(() => {})
  await reader?.cancel()
  const { exitCode } = await child.exited
  if (descriptor !== undefined && exitCode === 0) return descriptor
  if (descriptor !== undefined) closeSync(descriptor)
  throw new AppError('unavailable', `A network namespace could not be made: ${(await complaint).trim() || 'no reason given'}`)
}

export function allowLoopback(linkPrefix: string, address: string): void {
  try {
    writeFileSync(`/proc/sys/net/ipv4/conf/${linkPrefix}${hexOf(address)}/route_localnet`, '1')
  } catch (error) {
    // The link of a workload that has just ended is gone.
    if (!isMissing(error)) throw error
  }
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'
