import { createHash } from 'node:crypto'
import type { ArtifactsOf } from './port.ts'

/** Artifacts in memory, for tests: what is built is a text. They outlive a control plane, as folders do. */
export function createFakeArtifacts(): ArtifactsOf<string> {
  const kept = new Map<string, Map<string, string>>()
  const ofService = (serviceId: string) => kept.get(serviceId) ?? new Map<string, string>()
  return {
    async keep(serviceId, built, signal) {
      signal.throwIfAborted()
      const digest = createHash('sha256').update(built).digest('hex')
      kept.set(serviceId, ofService(serviceId).set(digest, built))
      return digest
    },
    has: (serviceId, digest) => ofService(serviceId).has(digest),
    folder: (serviceId, digest) => `/artifacts/${serviceId}/${digest}`,
    async sizes(serviceIds, unit) {
      const sizeOf = (texts: string[]) => (unit === 'files' ? texts.length : texts.join('').length)
      return new Map(serviceIds.map((id) => [id, sizeOf([...ofService(id).values()])]))
    },
    async prune(serviceId, wanted) {
      for (const digest of [...ofService(serviceId).keys()]) if (!wanted.has(digest)) kept.get(serviceId)?.delete(digest)
    },
  }
}
