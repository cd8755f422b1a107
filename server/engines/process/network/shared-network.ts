import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { readAttachment } from './attachment-record.ts'
import { type HostService, hostNameOf } from './host-services.ts'
import { openNameFiles } from './name-files.ts'
import { HOST_ATTACHMENT, type Networks } from './networks.ts'

export interface SharedNetworkOptions {
  directory: string
  hostServices: readonly HostService[]
  adopted: readonly { id: string; recordDir: string }[]
}

export async function openSharedNetwork({ directory, hostServices, adopted }: SharedNetworkOptions): Promise<Networks> {
  const hosts = hostServices.map((one) => ({ address: one.address, names: [hostNameOf(one)] }))
  const names = openNameFiles(join(directory, 'names'), hosts)
  const earlier = new Map(adopted.map(({ id, recordDir }) => [id, readAttachment(recordDir)?.address ?? HOST_ATTACHMENT.address]))
  return {
    areOwn: false,
    gateway: HOST_ATTACHMENT.address,
    enter: async ({ networkId, isHost }) =>
      isHost ? HOST_ATTACHMENT : { ...HOST_ATTACHMENT, files: [{ source: names.pathOf(networkId), target: '/etc/hosts' }] },
    leave: async (id) => void earlier.delete(id),
    addressOf: (id) => earlier.get(id) ?? HOST_ATTACHMENT.address,
    link: async (owners) => {
      const named = owners.map(({ networkId, number, names: known }) => ({ networkId, address: loopbackAddress(number), names: known }))
      names.write(Map.groupBy(named, ({ networkId }) => networkId))
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
