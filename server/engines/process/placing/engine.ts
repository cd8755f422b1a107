import type { Engine } from '../../port/port.ts'
import type { ProcessEngine } from '../spec.ts'
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
    link: (services) =>
      processes.link(
        services.map(({ owner: { serviceId, number, workspaceId: networkId }, ...named }) => ({ serviceId, number, networkId, ...named })),
      ),
    start: async (spec) => {
      const { instanceId, deployId, listens } = spec
      const held = listens && processes.takePort({ ...listens, sharesHostNetwork: spec.network === 'host' })
      const port = held && { port: held.number }
      try {
        const { own, ...placed } = await placeWorkload(context, spec, port)
        await processes.start({ ...placed, ...port, instanceId, deployId, outputPath: outputPathOf(own, spec) })
      } finally {
        held?.release()
      }
    },
    runTask: async (task, signal) => {
      signal.throwIfAborted()
      const { own, ...placed } = await placeWorkload(context, task)
      const { taskId, timeoutMs } = task
      return await processes.runTask({ ...placed, taskId, timeoutMs, outputPath: outputPathOf(own, task) }, signal)
    },
    openTerminal: async (spec) => {
      const { own: _, ...placed } = await placeWorkload(context, spec, { isJoining: spec.joins !== undefined })
      const { taskId, columns, rows, onOutput, joins } = spec
      return await processes.openTerminal({ ...placed, taskId, columns, rows, onOutput, ...(joins !== undefined && { joins }) })
    },
  }
}
