/** Volumes that are growing now, by id: none of them changes hands meanwhile. What a control plane before this one began is begun anew. */
const growing = new Set<string>()

export const isGrowing = (volumeId: string): boolean => growing.has(volumeId)

export async function whileGrowing<T>(volumeId: string, work: () => Promise<T>): Promise<T> {
  growing.add(volumeId)
  try {
    return await work()
  } finally {
    growing.delete(volumeId)
  }
}
