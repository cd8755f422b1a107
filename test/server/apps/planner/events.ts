import { wake } from '../../../../server/apps/instances/sleep.ts'
import { restartService, resumeService, scaleService, suspendService } from '../../../../server/apps/services/routes/operations.ts'
import { AppError } from '../../../../shared/error.ts'
import type { FakeWorld } from '../../../support/fake-world.ts'
import type { MadeService } from './made-service.ts'
import { ailing, commands, failing, lasting } from './programs.ts'

export interface Scene {
  world: FakeWorld
  service: MadeService
  below(limit: number): number
}

type Happening = (scene: Scene) => void | Promise<void>

const MOST_INSTANCES = 4

export function oneOf<T>({ below }: Pick<Scene, 'below'>, all: readonly T[]): T {
  const chosen = all[below(all.length)]
  if (chosen === undefined) throw new Error('There is nothing to choose from')
  return chosen
}

const deployOne =
  (programs: Record<string, string>, preDeploy: readonly string[] = ['']): Happening =>
  (scene) =>
    void scene.service.deploy(oneOf(scene, Object.values(programs)), oneOf(scene, preDeploy))

/** What may be asked of a service whose live release is to go on serving. */
const careful: readonly Happening[] = [
  deployOne(lasting, ['', '', 'exit 0', 'wait 1000; exit 0', 'exit 1']),
  deployOne(lasting),
  deployOne(failing),
  deployOne(failing),
  ({ service }) => service.cancel(),
  ({ service }) => service.rollBack(),
  ({ world, service }) => restartService(world.context, service.row),
  ({ world, service, below }) => scaleService(world.context, service.row, 1 + below(MOST_INSTANCES)),
  ({ world, service }) => void wake(world.context, service.id, 'request'),
  (scene) => void scene.service.run(oneOf(scene, commands)),
  (scene) => {
    const open = scene.service.jobs.filter(({ finishedAt }) => finishedAt === null)
    if (open.length > 0) scene.service.cancelJob(oneOf(scene, open).id)
  },
]

const careless: readonly Happening[] = [
  deployOne(ailing),
  ({ world, service }) => suspendService(world.context, service.row),
  ({ world, service }) => resumeService(world.context, service.row),
  ({ world, service }) => resumeService(world.context, service.row),
]

const calls = ['start', 'inspect', 'stop', 'remove', 'list', 'freeze', 'thaw', 'link', 'listeners', 'siblingConnections'] as const
const faults = [{ kind: 'lost' }, { kind: 'refused' }, { kind: 'slow', delayMs: 700 }] as const

/** What may befall the way to the engine and to the ingress, and the control plane itself; nothing that runs is touched by it. */
const troubles: readonly Happening[] = [
  (scene) => scene.world.machine.faults.inject(oneOf(scene, calls), oneOf(scene, faults)),
  (scene) => scene.world.machine.faults.inject(oneOf(scene, calls), oneOf(scene, faults), 3),
  ({ world: { machine } }) => machine.faults.partition(),
  ({ world: { machine } }) => machine.faults.heal(),
  ({ world: { machine } }) => machine.faults.heal(),
  ({ world: { ingress } }) => {
    ingress.isAway = true
  },
  ({ world: { ingress } }) => {
    ingress.isAway = false
  },
  ({ world: { machine } }) => machine.restart({ forgets: false }),
  (scene) => {
    const running = scene.service.running()
    if (running.length > 0) scene.world.ingress.busy.add(oneOf(scene, running))
  },
  ({ world }) => world.ingress.busy.clear(),
  ({ world }) => world.kill(),
]

/** What may befall what runs. */
const accidents: readonly Happening[] = [
  (scene) => {
    const running = scene.world.machine.running()
    if (running.length > 0) scene.world.machine.crash(oneOf(scene, running))
  },
  (scene) => {
    const running = scene.world.machine.running()
    if (running.length > 0) scene.world.machine.crash(oneOf(scene, running))
  },
  ({ world: { machine } }) => machine.reboot(),
]

export const withoutAccidents = [careful, careful, troubles]
export const withAccidents = [careful, careful, careless, troubles, accidents]

/** Has one of these happen. What the API refuses, people are told of, and nothing comes of it. */
export async function happen(scene: Scene, what: readonly (readonly Happening[])[]): Promise<void> {
  try {
    await oneOf(scene, oneOf(scene, what))(scene)
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'internal') throw error
  }
}
