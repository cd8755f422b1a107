import type { LinkedOwner } from '../port/port.ts'
import type { Program } from './program.ts'

interface Member {
  id: string
  ownerId: string
  /** The private network that it was started for; absent for what is in none. */
  network?: string
  program: Program
}

export interface FakeLinks {
  link(owners: readonly LinkedOwner[]): void
  /** What an owner's instance answers a member that asks for it by name; undefined where it cannot be reached. */
  ask(asker: Member, name: string): string | undefined
  forget(): void
}

export function createFakeLinks(running: () => readonly Member[]): FakeLinks {
  const networks = new Map<string, string>()
  let links: readonly LinkedOwner[] = []
  const networkOf = ({ ownerId, network }: Member) => network && (networks.get(ownerId) ?? network)
  return {
    link(owners) {
      links = [...owners]
      for (const { owner, network } of owners) networks.set(owner.id, network)
    },
    ask(asker, name) {
      const meant = links.find(({ network, names }) => network === networkOf(asker) && names.includes(name))
      const reached = running().find(({ id, program }) => meant?.instanceIds.includes(id) && program.ports.size > 0)
      return reached?.program.answerTo('/')?.text
    },
    forget() {
      links = []
      networks.clear()
    },
  }
}
