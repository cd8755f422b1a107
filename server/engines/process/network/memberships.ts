import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFileSync } from '../../../platform/files/replace-file.ts'
import type { NamedAddress } from './name-files.ts'
import type { LinkedOwner } from './networks.ts'

export interface MemberWorkload {
  id: string
  ownerId: string
  /** The network that it was started for, in which it is until its owner is linked; undefined where that is not known any more. */
  networkId: string | undefined
}

/**
 * Which private network each workload is in: the one that its owner was linked into last. Saved links are read by the next engine, which
 * changes nothing for the workloads it adopts until it is told anew.
 */
export interface Memberships {
  readonly links: readonly LinkedOwner[]
  networkOf(ownerId: string): string | undefined
  add(workload: MemberWorkload): void
  remove(id: string): { ownerId: string; wasLast: boolean } | undefined
  link(owners: readonly LinkedOwner[]): void
  save(): Promise<void>
}

export function openMemberships(directory: string): Memberships {
  let links = readLinks(directory)
  let linked = networksOf(links)
  const workloads = new Map<string, MemberWorkload>()
  const workloadOf = (ownerId: string) => [...workloads.values()].find((one) => one.ownerId === ownerId)
  return {
    get links() {
      return links
    },
    networkOf: (ownerId) => linked.get(ownerId) ?? workloadOf(ownerId)?.networkId,
    add: (workload) => void workloads.set(workload.id, workload),
    remove(id) {
      const ownerId = workloads.get(id)?.ownerId
      workloads.delete(id)
      return ownerId === undefined ? undefined : { ownerId, wasLast: workloadOf(ownerId) === undefined }
    },
    link(owners) {
      const present = new Set([...workloads.values()].map(({ ownerId }) => ownerId))
      links = [...owners, ...leftOut(links, owners).filter(({ ownerId }) => present.has(ownerId))]
      linked = networksOf(links)
    },
    save: async () => replaceFileSync(join(directory, LINKS_FILE), JSON.stringify(links), { isDurable: false }),
  }
}

/** What has no name is not reached by one, nor at an address of its number. */
export const namedOf = ({ links }: Pick<Memberships, 'links'>): LinkedOwner[] => links.filter(({ names }) => names.length > 0)

export const namesBy =
  (memberships: Pick<Memberships, 'links'>, addressOf: (ownerNumber: number) => string) =>
  (networkId: string): NamedAddress[] =>
    namedOf(memberships)
      .filter((owner) => owner.networkId === networkId)
      .map(({ number, names }) => ({ address: addressOf(number), names }))

const networksOf = (links: readonly LinkedOwner[]): Map<string, string> =>
  new Map(links.map(({ ownerId, networkId }) => [ownerId, networkId]))

/** What runs of an owner that is told of no more stays where it is, and nobody is led there. */
function leftOut(before: readonly LinkedOwner[], wanted: readonly LinkedOwner[]): LinkedOwner[] {
  const told = networksOf(wanted)
  return before.filter(({ ownerId }) => !told.has(ownerId)).map((link) => ({ ...link, names: [], instanceIds: [] }))
}

const LINKS_FILE = 'links.json'

/** Earlier versions knew services only, and named the field so. */
type KeptLink = Omit<LinkedOwner, 'ownerId'> & { ownerId?: string; serviceId?: string }

function readLinks(directory: string): LinkedOwner[] {
  try {
    const kept: KeptLink[] = JSON.parse(readFileSync(join(directory, LINKS_FILE), 'utf8'))
    return kept.map(({ serviceId = '', ownerId = serviceId, ...rest }) => ({ ownerId, ...rest }))
  } catch {
    // There is none yet, or a loss of power has emptied it, after which nothing runs whose links it could tell.
    return []
  }
}
