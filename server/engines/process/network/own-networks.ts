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
import { type Memberships, namedOf, namesBy, openMemberships } from './memberships.ts'
import { type NameFiles, openNameFiles, writeInPlace } from './name-files.ts'
import { allowLoopback, type LinkSettings, makeNamespace, type Namespace } from './namespace.ts'
import { type Adopted, type Attachment, HOST_ATTACHMENT, type Networks, type Workload } from './networks.ts'
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
  adopted: readonly Adopted[]
  log: (message: string) => void
}

interface Attached extends AttachmentRecord {
  ownerId: string
}

interface Parts {
  options: NetworkOptions
  claim: ClaimedSubnet
  table: KernelTable
  pool: NamespacePool
  names: NameFiles
  memberships: Memberships
  attachments: Map<string, Attached>
}

/** How often the rules are looked after, as a reload of a firewall may sweep them away. */
const REPAIR_INTERVAL_MS = 60_000

/** @throws AppError `unavailable` when the machine does not take the network. */
export async function openNetworks(options: NetworkOptions): Promise<Networks> {
  const parts = await openParts(options)
  const { claim, pool, table, attachments, names, memberships } = parts
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
      const left = memberships.remove(id)
      if (left?.wasLast) names.remove(left.ownerId)
    },
    addressOf: (id) => attachments.get(id)?.address ?? HOST_ATTACHMENT.address,
    link: async (owners) => {
      memberships.link(owners)
      // A full disk keeps nobody from being shut out.
      await Promise.all([
        memberships.save(),
        names.update(),
        table.change({ members: membersOf(parts), destinations: destinationsOf(parts) }),
      ])
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
  const attachments = new Map(options.adopted.flatMap((one) => attachmentEntry(one)))
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
  const memberships = openMemberships(directory)
  for (const [id, { ownerId, networkId }] of attachments) if (networkId !== undefined) memberships.add({ id, ownerId, networkId })
  const { networkOf } = memberships
  const addressOf = (ownerNumber: number) => virtualAddress(subnet, ownerNumber)
  const names = openNameFiles(join(directory, 'names'), { networkOf, namesIn: namesBy(memberships, addressOf), fixed: hosts })
  names.keepOnly(readersIn(attachments))
  await names.update()
  const given = { claim, memberships, attachments }
  const onError = (error: unknown) => log(`The network rules were set anew: ${messageOf(error)}`)
  const table = await openKernelTable({ rules, members: membersOf(given), destinations: destinationsOf(given), onError })
  enlargeTable()
  return { options, table, pool, names, ...given }
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

function attachmentEntry({ id, ownerId, recordDir }: Adopted): [string, Attached][] {
  const attachment = readAttachment(recordDir)
  return attachment === undefined ? [] : [[id, { ...attachment, ownerId }]]
}

function readersIn(attachments: Parts['attachments']): Parameters<NameFiles['keepOnly']>[0] {
  const members = [...attachments.values()].flatMap(({ ownerId, networkId }) => (networkId === undefined ? [] : [{ ownerId, networkId }]))
  return { owners: new Set(members.map(({ ownerId }) => ownerId)), networks: new Set(members.map(({ networkId }) => networkId)) }
}

const MAKE_ATTEMPTS = 5

function poolOf(settings: LinkSettings, attachments: ReadonlyMap<string, Attached>, log: (message: string) => void): NamespacePool {
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
  { options, pool, table, names, attachments, memberships, claim }: Parts,
  { id, ownerId, recordDir, networkId: networkAtStart }: Workload,
): Promise<Attachment> {
  const namespace = await pool.take()
  const { address, path, release } = namespace
  try {
    const networkId = networkAtStart === undefined ? undefined : (memberships.networkOf(ownerId) ?? networkAtStart)
    const attachment = { address, ...(networkId !== undefined && { networkId }) }
    writeAttachment(recordDir, attachment)
    attachments.set(id, { ...attachment, ownerId })
    if (networkId !== undefined) memberships.add({ id, ownerId, networkId })
    const resolvConf = join(options.directory, 'resolv.conf')
    writeInPlace(resolvConf, readResolver(gatewayOf(claim.subnet)).text)
    const files = [
      { source: names.pathOf(networkId === undefined ? undefined : ownerId), target: '/etc/hosts' },
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

type Given = Pick<Parts, 'claim' | 'attachments' | 'memberships'>

/** Addresses of workloads by the networks that they are in; builds are in none. */
const membersOf = ({ attachments, memberships }: Given): Map<string, string> =>
  new Map(
    [...attachments.values()].flatMap(({ address, ownerId, networkId }) =>
      networkId === undefined ? [] : [[address, memberships.networkOf(ownerId) ?? networkId]],
    ),
  )

const destinationsOf = ({ claim, attachments, memberships }: Given): Map<string, string[]> =>
  new Map(
    namedOf(memberships).map(({ number, instanceIds }) => [
      virtualAddress(claim.subnet, number),
      instanceIds.flatMap((id) => attachments.get(id)?.address ?? []).toSorted(),
    ]),
  )
