import type { CertificateTable } from '../../../ingress/tables/certificate-table.ts'

export type IngressChallenge = CertificateTable['challenges'][number]

/**
 * What the ingress answers to the authority at this moment. Kept in memory only: the table that the next control plane
 * publishes has none of them, which withdraws whatever a dead one has left.
 */
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
