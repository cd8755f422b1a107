import { afterEach, beforeEach } from 'vitest'
import type { Engine } from '../../server/engines/port/port.ts'

type Closable = Pick<Engine, 'list' | 'removeOwner' | 'close'>

interface Opened<W, E> {
  makeWorld(): W
  /** The second time it stands for a restarted control plane. */
  openOn(world: W): Promise<E>
  /** Given a new world and an engine on it before each test. */
  use(world: W, engine: E): void
}

/**
 * A world for each test, of which nothing is left after it. Returns what opens a further engine on it. Called inside of `describe`:
 * hooks at the top of a file run for the tests of all its suites.
 */
export function eachInAWorld<W extends { dispose(): void }, E extends Closable>({
  makeWorld,
  openOn,
  use,
}: Opened<W, E>): () => Promise<E> {
  let world: W
  const opened: E[] = []
  const open = async () => {
    const one = await openOn(world)
    opened.push(one)
    return one
  }

  beforeEach(async () => {
    world = makeWorld()
    use(world, await open())
  })

  afterEach(async () => {
    const engine = opened.at(-1)
    for (const { ownerId } of (await engine?.list()) ?? []) await engine?.removeOwner(ownerId)
    for (const one of opened.splice(0)) await one.close()
    world.dispose()
  })
  return open
}
