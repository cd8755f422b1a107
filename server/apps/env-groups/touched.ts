/**
 * What a change of one group means for services. What each of them got before is worked out after the change, out of what the group and
 * the links were: nothing of the others has changed, and a group may have hundreds of services.
 */
import type { AppContext } from '../context.ts'
import { sealedFilesOf } from '../services/env-store.ts'
import { type StoredService, serviceById } from '../services/store.ts'
import { type Layer, type ResolvedVariable, resolveVariables } from '../variables/resolve.ts'
import { groupFiles, groupLayer, ownLayer, type ResolvedFile, resolveFiles, surroundingsOf } from '../variables/resolved.ts'
import { groupsOfService, linkedGroup, servicesOfGroup } from './store/link-store.ts'

export interface State {
  variables: readonly ResolvedVariable[]
  files: readonly ResolvedFile[]
}

export interface Effect extends State {
  service: StoredService
  envVars: string[]
  secretFiles: string[]
  circles: readonly ResolvedVariable[]
}

interface Content {
  layer: Layer | undefined
  files: readonly ResolvedFile[]
}

/**
 * Looks at a group before it changes. Gives what then tells the effect on each of the services, those that it makes no difference for
 * included; they are all that are linked to it unless they are named.
 */
export function watchGroup(context: AppContext, groupId: string, services?: readonly string[]): () => Effect[] {
  const ids = services ?? servicesOfGroup(context.db, groupId).map(({ id }) => id)
  const linksBefore = new Map(ids.map((id) => [id, linksOf(context, id)]))
  const before = contentOf(context, groupId)
  return () => {
    const known = new Map<string, Content>()
    const now = (id: string): Content => {
      const content = known.get(id) ?? contentOf(context, id)
      known.set(id, content)
      return content
    }
    return ids.flatMap((id) => {
      const service = serviceById(context.db, id)
      if (service === undefined) return []
      const stateWith = stateOf(context, service)
      const was = stateWith((linksBefore.get(id) ?? []).map((linked) => (linked === groupId ? before : now(linked))))
      return [effectOn(service, was, stateWith(linksOf(context, id).map(now)))]
    })
  }
}

const linksOf = ({ db }: AppContext, serviceId: string): string[] => groupsOfService(db, serviceId).map(({ id }) => id)

function contentOf(context: AppContext, groupId: string): Content {
  const group = linkedGroup(context.db, groupId)
  return { layer: group && groupLayer(context, group), files: groupFiles(context, groupId) }
}

function stateOf(context: AppContext, service: StoredService): (groups: readonly Content[]) => State {
  const own = ownLayer(context, service)
  const files = sealedFilesOf(context, service.id)
  const surroundings = surroundingsOf(context, service)
  return (groups) => ({
    variables: resolveVariables([own, ...groups.flatMap(({ layer }) => layer ?? [])], surroundings),
    files: resolveFiles([files, ...groups.map((group) => group.files)]),
  })
}

function effectOn(service: StoredService, was: State, is: State): Effect {
  const wereInCircles = new Set(inCircles(was).map(({ key }) => key))
  return {
    ...is,
    service,
    envVars: differing(byKey(was.variables), byKey(is.variables), isSameValue),
    secretFiles: differing(byName(was.files), byName(is.files), isSameContent),
    circles: inCircles(is).filter(({ key }) => !wereInCircles.has(key)),
  }
}

const inCircles = ({ variables }: State): ResolvedVariable[] => variables.filter(({ isCircle }) => isCircle === true)

const byKey = <T extends { key: string }>(items: readonly T[]): Map<string, T> => new Map(items.map((item) => [item.key, item]))
const byName = <T extends { name: string }>(items: readonly T[]): Map<string, T> => new Map(items.map((item) => [item.name, item]))

const isSameValue = (one: ResolvedVariable, other: ResolvedVariable): boolean =>
  one.value === other.value && (one.problem === undefined) === (other.problem === undefined)

const isSameContent = (one: ResolvedFile, other: ResolvedFile): boolean => one.sealed === other.sealed || one.open() === other.open()

export function differing<A, B>(was: ReadonlyMap<string, A>, is: ReadonlyMap<string, B>, isSame: (was: A, is: B) => boolean): string[] {
  const gone = [...was.keys()].filter((name) => !is.has(name))
  const other = [...is].filter(([name, item]) => {
    const before = was.get(name)
    return before === undefined || !isSame(before, item)
  })
  return [...gone, ...other.map(([name]) => name)].sort()
}
