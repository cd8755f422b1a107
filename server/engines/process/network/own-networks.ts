/**
 * A network for each workload, on this machine: a namespace with one address, a link to the host and rules on the host's side. The kernel
 * takes namespace, link and route back with the last process in them. What outlives it (an element in the rules) goes when the workload is
 * removed, or when the next engine sets the rules anew from what is on disk.
 */

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, messageOf } from '../../../../shared/error.ts'
import { gatewayOf, hostServiceAddress, INSTANCE_ADDRESSES, instanceAddress, parseSubnet, virtualAddress } from './addresses.ts'
import { type AttachmentRecord, readAttachment, writeAttachment } from './attachment-record.ts'
import { enlargeTable } from './connection-table.ts'
import { type HostService, hostNameOf } from './host-services.ts'
import { type KernelTable, openKernelTable } from './kernel-table.ts'
import { readLinks, saveLinks } from './links-file.ts'
import { type NamedAddress, type NameFiles, openNameFiles, writeInPlace } from './name-files.ts'
import { allowLoopback, type LinkSettings, makeNamespace, type Namespace } from './namespace.ts'
import { type Attachment, HOST_ATTACHMENT, type LinkedOwner, type Networks, type Workload } from './networks.ts'
import { createPool, type NamespacePool } from './pool.ts'
import { register, registeredSubnet, sweepOrphans, unregister } from './registry.ts'
import { readResolver } from './resolver.ts'
import type { Rules } from './ruleset.ts'
import { type ClaimedSubnet, claimSubnet, readMtu } from './subnet.ts'

export interface NetworkOptions {
  directory: string
  subnet?: string
  publicPorts: readonly number[]
  hasTimeouts: boolean
  connectionsPerInstance: number | undefined
  hostServices: readonly HostService[]
  adopted: readonly { id: string; recordDir: string }[]
  log: (message: string) => void
}

interface Parts {
  options: NetworkOptions
  claim: ClaimedSubnet
  table: KernelTable
  pool: NamespacePool
  names: NameFiles
  attachments: Map<string, AttachmentRecord>
}

/** How often the rules are looked after, as a reload of a firewall may sweep them away. */
const REPAIR_INTERVAL_MS = 60_000

/** @throws AppError `unavailable` when the machine does not take the network. */
export async function openNetworks(options: NetworkOptions): Promise<Networks> {
  const parts = await openParts(options)
  const { claim, pool, table, attachments, names } = parts
  const { subnet } = claim
  const timer = setInterval(() => void repair(parts), REPAIR_INTERVAL_MS)
  timer.unref()
  sweepOrphans().catch((error) => options.log(`What other installations have left could not be removed: ${messageOf(error)}`))
  return {
    areOwn: true,
    gateway: gatewayOf(subnet),
    enter: async (workload) => (workload.isHost ? HOST_ATTACHMENT : await enter(parts, workload)),
    leave: async (id) => {
      const attachment = attachments.get(id)
      if (attachment === undefined) return
      await table.remove(attachment.address)
      attachments.delete(id)
    },
    addressOf: (id) => attachments.get(id)?.address ?? HOST_ATTACHMENT.address,
    link: async (owners) => {
      saveLinks(options.directory, owners)
      names.write(namesOf(parts, owners))
      await table.setDestinations(destinationsOf(parts, owners))
      pool.fill()
    },
    close: async ({ isEmpty }) => {
      clearInterval(timer)
      await pool.close()
      if (!isEmpty) return
      await table.drop()
      await claim.release()
      unregister(labelsOf(options.directory).table)
      rmSync(options.directory, { recursive: true, force: true })
    },
  }
}

async function openParts(options: NetworkOptions): Promise<Parts> {
  const { directory, log } = options
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  forwardPackets()
  const attachments = new Map(options.adopted.flatMap(({ id, recordDir }) => attachmentEntry(id, recordDir)))
  const [claim, mtu] = await Promise.all([claimFor(options, attachments.size > 0), readMtu()])
  const { subnet } = claim
  const resolver = readResolver(gatewayOf(subnet))
  const { linkPrefix, table: tableName } = labelsOf(directory)
  register(tableName, { directory, subnet: subnet.cidr })
  const rules: Rules = {
    table: tableName,
    linkPrefix,
    subnet,
    ownUid: process.getuid?.() ?? 0,
    publicPorts: options.publicPorts,
    localResolvers: resolver.local,
    hasTimeouts: options.hasTimeouts,
    connectionsPerInstance: options.connectionsPerInstance,
    hostServices: options.hostServices,
  }
  const isLoopbackNeeded = [...resolver.local, ...options.hostServices.map(({ address }) => address)].some((one) => one.startsWith('127.'))
  // What runs already may have been given its link when nothing on loopback was to be reached.
  if (isLoopbackNeeded) for (const { address } of attachments.values()) allowLoopback(linkPrefix, address)
  const pool = poolOf({ linkPrefix, subnet, mtu, hasIpv6: existsSync('/proc/sys/net/ipv6'), isLoopbackNeeded }, attachments, log)
  const hosts = options.hostServices.map((one, index) => ({ address: hostServiceAddress(subnet, index), names: [hostNameOf(one)] }))
  const names = openNameFiles(join(directory, 'names'), hosts)
  const links = readLinks(directory)
  const members = new Map(
    [...attachments.values()].flatMap(({ address, networkId }) => (networkId === undefined ? [] : [[address, networkId]])),
  )
  names.keepOnly(new Set(members.values()))
  names.write(namesOf({ claim }, links))
  const onError = (error: unknown) => log(`The network rules were set anew: ${messageOf(error)}`)
  const table = await openKernelTable({ rules, members, destinations: destinationsOf({ claim, attachments }, links), onError })
  enlargeTable()
  return { options, claim, table, pool, names, attachments }
}

/** Both tell this installation's parts from another's, on the same machine. Names of links have 15 characters at most. */
function labelsOf(directory: string): { linkPrefix: string; table: string } {
  const hash = createHash('sha256').update(directory).digest('hex').slice(0, 8)
  return { linkPrefix: `cpd${hash}`, table: `cpd_${hash}` }
}

function forwardPackets(): void {
  const path = '/proc/sys/net/ipv4/ip_forward'
  if (readFileSync(path, 'utf8').trim() === '0') writeFileSync(path, '1')
}

function claimFor({ directory, subnet }: NetworkOptions, isInUse: boolean): Promise<ClaimedSubnet> {
  const others = [...readResolver('').text.matchAll(/^nameserver (\S+)/gm)].map(([, server]) => server ?? '')
  const registered = registeredSubnet(labelsOf(directory).table)
  return claimSubnet({ directory, wanted: subnet === undefined ? undefined : parseSubnet(subnet), registered, isInUse, others })
}

const attachmentEntry = (id: string, recordDir: string): [string, AttachmentRecord][] => {
  const attachment = readAttachment(recordDir)
  return attachment === undefined ? [] : [[id, attachment]]
}

const MAKE_ATTEMPTS = 5

function poolOf(settings: LinkSettings, attachments: ReadonlyMap<string, AttachmentRecord>, log: (message: string) => void): NamespacePool {
  // Begun anywhere, so that an address that was just given back is not at once another's.
  let index = Math.floor(Math.random() * INSTANCE_ADDRESSES)
  const nextAddress = () => {
    const taken = new Set([...attachments.values()].map(({ address }) => address))
    for (let step = 0; step < INSTANCE_ADDRESSES; step++) {
      const address = instanceAddress(settings.subnet, index++)
      if (!taken.has(address)) return address
    }
    throw new AppError('unavailable', 'Every address for instances is in use; stop some')
  }
  async function make(attempt = 1): Promise<Namespace> {
    try {
      return await makeNamespace(settings, nextAddress())
    } catch (error) {
      // The link of an address may be left of an engine that died a moment ago, while the kernel tidies up.
      if (attempt >= MAKE_ATTEMPTS) throw error
      return await make(attempt + 1)
    }
  }
  return createPool({ make, onError: (error) => log(messageOf(error)) })
}

async function enter(
  { options, pool, table, names, attachments, claim }: Parts,
  { id, recordDir, networkId }: Workload,
): Promise<Attachment> {
  const namespace = await pool.take()
  const { address, path, release } = namespace
  try {
    const attachment = { address, ...(networkId !== undefined && { networkId }) }
    writeAttachment(recordDir, attachment)
    attachments.set(id, attachment)
    const resolvConf = join(options.directory, 'resolv.conf')
    writeInPlace(resolvConf, readResolver(gatewayOf(claim.subnet)).text)
    const files = [
      { source: names.pathOf(networkId), target: '/etc/hosts' },
      { source: resolvConf, target: '/etc/resolv.conf' },
    ].filter(({ target }) => existsSync(target))
    const joined = networkId === undefined ? Promise.resolve() : table.add(address, networkId)
    joined.catch(() => {})
    return { address, path, files, joined, left: release }
  } catch (error) {
    release()
    throw error
  }
}

async function repair({ table, options }: Parts): Promise<void> {
  try {
    if (await table.repair()) options.log('The network rules were gone, as after a flush of all rules, and were set again')
  } catch (error) {
    options.log(`The network rules could not be looked after: ${messageOf(error)}`)
  }
}

function destinationsOf(
  { claim, attachments }: Pick<Parts, 'claim' | 'attachments'>,
  owners: readonly LinkedOwner[],
): Map<string, string[]> {
  return new Map(
    owners
      .filter(isNamed)
      .map(({ number, instanceIds }) => [
        virtualAddress(claim.subnet, number),
        instanceIds.flatMap((id) => attachments.get(id)?.address ?? []).toSorted(),
      ]),
  )
}

function namesOf({ claim }: Pick<Parts, 'claim'>, owners: readonly LinkedOwner[]): Map<string, NamedAddress[]> {
  const named = ({ number, names }: LinkedOwner) => ({ address: virtualAddress(claim.subnet, number), names })
  const byNetwork = Map.groupBy(owners.filter(isNamed), ({ networkId }) => networkId)
  return new Map([...byNetwork].map(([networkId, all]) => [networkId, all.map(named)]))
}

const isNamed = ({ names }: LinkedOwner): boolean => names.length > 0
