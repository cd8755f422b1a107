import type { CertificateTable } from '../../../ingress/tables/certificate-table.ts'

export type IngressChallenge = CertificateTable['challenges'][number]

/** Challenges under way, in memory only: the first table that the next control plane publishes withdraws those of a dead one. */
export interface PendingChallenges {
  add(challenge: IngressChallenge): void
  remove(challenge: IngressChallenge): void
  all(): IngressChallenge[]
}

export function createPendingChallenges(): PendingChallenges {
  const shown = new Set<IngressChallenge>()
  return {
    add: (challenge) => void shown.add(challenge),
    remove: (challenge) => void shown.delete(challenge),
    all: () => [...shown],
  }
}
