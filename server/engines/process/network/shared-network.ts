import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { readAttachment } from './attachment-record.ts'
import { type HostService, hostNameOf } from './host-services.ts'
import { namesBy, openMemberships } from './memberships.ts'
import { openNameFiles } from './name-files.ts'
import { type Adopted, HOST_ATTACHMENT, type Networks, type Workload } from './networks.ts'

export interface SharedNetworkOptions {
  directory: string
  hostServices: readonly HostService[]
  adopted: readonly Adopted[]
}

export async function openSharedNetwork({ directory, hostServices, adopted }: SharedNetworkOptions): Promise<Networks> {
  const memberships = openMemberships(directory)
  const fixed = hostServices.map((one) => ({ address: one.address, names: [hostNameOf(one)] }))
  const { networkOf } = memberships
  const names = openNameFiles(join(directory, 'names'), { networkOf, namesIn: namesBy(memberships, loopbackAddress), fixed })
  const earlier = new Map(adopted.map(({ id, recordDir }) => [id, readAttachment(recordDir)?.address ?? HOST_ATTACHMENT.address]))
  for (const { id, ownerId, recordDir } of adopted) memberships.add({ id, ownerId, networkId: readAttachment(recordDir)?.networkId })

  names.keepOnly({ owners: new Set(adopted.map(({ ownerId }) => ownerId)) })

  function enter({ id, ownerId, networkId }: Workload) {
    if (networkId !== undefined) memberships.add({ id, ownerId, networkId })
    const source = names.pathOf(networkId === undefined ? undefined : ownerId)
    return { ...HOST_ATTACHMENT, files: [{ source, target: '/etc/hosts' }] }
  }

  return {
    areOwn: false,
    gateway: HOST_ATTACHMENT.address,
    enter: async (workload) => (workload.isHost ? HOST_ATTACHMENT : enter(workload)),
    leave: async (id) => {
      earlier.delete(id)
      const left = memberships.remove(id)
      if (left?.wasLast) names.remove(left.ownerId)
    },
    addressOf: (id) => earlier.get(id) ?? HOST_ATTACHMENT.address,
    link: async (owners) => {
      memberships.link(owners)
      await Promise.all([memberships.save(), names.update()])
    },
    siblingHost: loopbackAddress,
    close: async ({ isEmpty }) => {
      if (isEmpty) rmSync(directory, { recursive: true, force: true })
    },
  }
}

const FIRST = 256
const COUNT = 65_536 - 2 * FIRST

/** An address of this machine's loopback network by the owner's number. Two numbers share one only when they are 65,024 apart. */
export function loopbackAddress(ownerNumber: number): string {
  const offset = FIRST + (ownerNumber % COUNT)
  return `127.77.${offset >> 8}.${offset & 255}`
}
