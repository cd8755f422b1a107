import type { StoredDatastore } from '../../../../../server/apps/datastores/store.ts'
import { createFakeEngine } from '../../../../../server/engines/fake/engine.ts'
import type { FakeMachine, FakeVolume, Run } from '../../../../../server/engines/fake/machine.ts'
import { fakeVolumeCapabilities } from '../../../../../server/engines/fake/volumes.ts'
import type { Workload } from '../../../../../server/engines/fake/workload.ts'
import type { Engine } from '../../../../../server/engines/port/port.ts'
import type { Volumes } from '../../../../../server/engines/port/volumes.ts'

/** What a machine of datastores knows beside its runs and volumes. Texts in `wrong` say what should never have happened. */
export interface Grounds {
  machine: FakeMachine
  below(limit: number): number
  /** Volumes whose files are broken: no server comes up on them. */
  broken: Set<string>
  /** Datastores of which a last backup was taken before they went. */
  kept: Set<string>
  wrong: string[]
  onRemove(): void
  rowOf(which: { id: string } | { volumeId: string }): StoredDatastore | undefined
}

const usersOf = (volume: FakeVolume | undefined): Run[] => [...(volume?.users ?? [])].filter(({ end }) => end === undefined)

/** Names of what stands on the volume of a server. */
export const DATA_OF = 'cluster'
export const COPY = 'copy'
export const ROWS = 'rows'

export const rowsIn = (volume: FakeVolume | undefined): number => Number(volume?.files.get(ROWS) ?? 0)

/** The volume of a server that takes connections; undefined where none does. */
export function serverAt({ runs, volumes }: FakeMachine, { host, port }: { host: string; port: number }): FakeVolume | undefined {
  const run = [...runs.values()].find(({ end, address, program }) => end === undefined && address === host && program.ports.has(port))
  return run === undefined ? undefined : volumes.get(run.volumeId ?? '')
}

/** The volume of a datastore whose server takes connections; undefined where none does. */
export function servingVolume({ runs, volumes }: FakeMachine, id: string): FakeVolume | undefined {
  const run = [...runs.values()].find(({ end, ownerId, program }) => end === undefined && ownerId === id && program.ports.size > 0)
  return run === undefined ? undefined : volumes.get(run.volumeId ?? '')
}

/** A fake engine whose workloads act as those of datastores do, on a machine that takes note of each thing that would lose data. */
export function createFleetEngine(grounds: Grounds, grow: Volumes['capabilities']['grow']): Engine {
  const { machine } = grounds
  const begin: FakeMachine['begin'] = (workload) => machine.begin({ ...workload, command: commandOf(grounds, workload) })
  const watched: FakeMachine = Object.assign(Object.create(machine), { begin })
  const volumes = { ...fakeVolumeCapabilities, kinds: [{ name: 'image', isBounded: true }] as const, grow }
  const engine = createFakeEngine(watched, { volumes })
  return Object.assign(Object.create(engine), { volumes: watchedVolumes(grounds, engine.volumes) })
}

function commandOf(grounds: Grounds, { id, ownerId, volumeId = '', env }: Workload): string {
  const { machine, broken, wrong } = grounds
  const volume = machine.volumes.get(volumeId)
  if (usersOf(volume).length > 0) wrong.push(`${id} begins on ${volumeId} beside ${usersOf(volume).map((run) => run.id)}`)
  if (volume?.owner.id !== ownerId) wrong.push(`${id} begins on ${volumeId}, which is of ${volume?.owner.id}`)
  if (volume === undefined) return 'exit 1'
  if (id.endsWith('.cluster')) return `wait 200; put ${DATA_OF} ${ownerId}; exit 0`
  const isFilled = ownerId.startsWith('red-') || hasContent(grounds, volume, { id, ownerId, env })
  if (!isFilled || broken.has(volumeId)) return 'wait 50; exit 1'
  return `${ends(grounds)}wait ${50 + grounds.below(400)}; listen; serve`
}

/** Most servers end in order when they are asked to, and some have to be killed. */
function ends({ below }: Grounds): string {
  return below(8) === 0 ? 'deaf; ' : 'polite stopped; '
}

/** Does as the script at the start of a server: takes a copy where it follows, and looks for its data where it does not. */
function hasContent(grounds: Grounds, volume: FakeVolume, { id, ownerId, env }: Pick<Workload, 'id' | 'ownerId' | 'env'>): boolean {
  const primaryId = grounds.rowOf({ id: ownerId })?.primaryId ?? undefined
  const dataOf = volume.files.get(DATA_OF)
  if (primaryId !== undefined) return hasCopy(grounds, volume, { primaryId, copy: env.CPD_COPY })
  if (dataOf !== ownerId) grounds.wrong.push(`${id} begins on the data of ${dataOf}`)
  return true
}

function hasCopy({ machine, broken }: Grounds, volume: FakeVolume, { primaryId, copy }: { primaryId: string; copy: string | undefined }) {
  const mark = `${primaryId} ${copy}`
  if (volume.files.get(COPY) === mark) return true
  const from = servingVolume(machine, primaryId)
  if (from === undefined) return false
  const [[volumeId] = ['']] = [...machine.volumes].filter(([, one]) => one === volume)
  broken.delete(volumeId)
  for (const [name, text] of Object.entries({ [COPY]: mark, [DATA_OF]: primaryId, [ROWS]: String(rowsIn(from)) }))
    volume.files.set(name, text)
  return true
}

function watchedVolumes({ machine: { volumes, faults }, kept, wrong, onRemove, rowOf }: Grounds, own: Volumes): Volumes {
  const unused = async (what: string, id: string) => {
    await faults.reachable()
    if (usersOf(volumes.get(id)).length > 0) wrong.push(`${id} is ${what} while ${usersOf(volumes.get(id)).map((run) => run.id)} has it`)
  }
  return {
    ...own,
    async grow(id, size) {
      if (own.capabilities.grow === 'offline') await unused('grown', id)
      await own.grow(id, size)
    },
    async give(id, owner) {
      await unused('given away', id)
      await own.give(id, owner)
    },
    async remove(id) {
      await unused('removed', id)
      const row = rowOf({ volumeId: id })
      if (row?.phase !== 'deleting') wrong.push(`${id} is removed, which ${row?.id} has`)
      if (row?.primaryId === null && !kept.has(row.id)) wrong.push(`${id} is removed before the last backup of ${row.id}`)
      await own.remove(id)
      onRemove()
    },
  }
}
