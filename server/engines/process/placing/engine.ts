import { discardServiceFolder } from '../../../platform/service-folders.ts'
import type { Engine } from '../../port/port.ts'
import type { ProcessEngine } from '../spec.ts'
import { heldSpaceOf } from './held-space.ts'
import { outputsIn } from './outputs.ts'
import { outputPathOf, type PlacingContext, placeWorkload } from './place.ts'
import type { Places } from './places.ts'
import { createSecretFolders } from './secret-files.ts'

export function placeOnMachine(processes: ProcessEngine, places: Places): Engine {
  const context: PlacingContext = { places, secrets: createSecretFolders() }
  return {
    ...processes,
    output: outputsIn(places.paths),
    volumes: places.volumes,
    link: (owners) =>
      processes.link(
        owners.map(({ owner: { id: ownerId, number }, network: networkId, ...named }) => ({ ownerId, number, networkId, ...named })),
      ),
    guarantees: async () => [...(await processes.guarantees()), places.quota.guarantee],
    limitSpace: ({ number }, limit) => places.quota.limit(number, limit),
    heldSpace: (owners, unit, signal) => heldSpaceOf(places.paths, { owners, unit, signal, layersOf: processes.layersOf }),
    emptyTemporary: ({ id, number }) => discardServiceFolder(places.paths, { id, uid: number }, 'tmp'),
    start: async (spec) => {
      const { instanceId, deployId, listens, runs } = spec
      const held = listens && processes.takePort({ ...listens, sharesHostNetwork: spec.network === 'host' })
      const port = held && { port: held.number }
      try {
        const { own, ...placed } = await placeWorkload(context, spec, port)
        const outputPath = outputPathOf(own, spec)
        await processes.start({ ...placed, ...port, instanceId, deployId, outputPath, ...(runs !== undefined && { runs }) })
      } finally {
        held?.release()
      }
    },
    openTerminal: async (spec) => {
      const { own: _, ...placed } = await placeWorkload(context, spec, { isJoining: spec.joins !== undefined })
      const { terminalId, columns, rows, onOutput, joins } = spec
      return await processes.openTerminal({ ...placed, terminalId, columns, rows, onOutput, ...(joins !== undefined && { joins }) })
    },
  }
}
