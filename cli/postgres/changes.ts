import type { Postgres, PostgresPatch } from '../../shared/postgres.ts'
import { allowedText, rangesShutOut } from '../options/allow-list.ts'

/** What a patch does to a database, in words; told before and after it is made. */
export interface Effects {
  changes: string[]
  losses: string[]
  isRestart: boolean
}

export function effectsOf(before: Postgres, patch: PostgresPatch): Effects {
  const changes = changesIn(before, patch)
  return {
    changes: changes.map(({ text }) => text),
    losses: lossesIn(before, patch),
    isRestart: before.suspended === 'not_suspended' && changes.some(({ isRestart }) => isRestart === true),
  }
}

interface Change {
  text: string
  isRestart?: true
}

function changesIn(before: Postgres, patch: PostgresPatch): Change[] {
  const { name, plan, diskSizeGB, enableDiskAutoscaling: grows, connectionPool, enableHighAvailability: standby, ipAllowList } = patch
  const changes: (Change | false)[] = [
    isOther(name, before.name) && { text: `the name ${name}` },
    isOther(plan, before.plan) && { text: `the plan ${plan}`, isRestart: true },
    isOther(diskSizeGB, before.diskSizeGB) && { text: `a disk of ${diskSizeGB} GB` },
    isOther(grows, before.diskAutoscalingEnabled) && {
      text: grows === true ? 'a disk that grows by itself' : 'a disk that stays as it is',
    },
    isOther(connectionPool, before.connectionPool) && { text: connectionPool === 'none' ? 'no pooler' : 'a pooler', isRestart: true },
    isOther(standby, before.highAvailabilityEnabled) && { text: standby === true ? 'a standby' : 'no standby' },
    ipAllowList !== undefined &&
      allowedText(ipAllowList) !== allowedText(before.ipAllowList) && { text: `allowed: ${allowedText(ipAllowList)}` },
    settingsChange(before, patch),
    replicaChange(before, patch),
  ]
  return changes.filter((change) => change !== false)
}

const isOther = <T>(wanted: T | undefined, now: T): boolean => wanted !== undefined && wanted !== now

function settingsChange({ parameterOverrides: before = {} }: Postgres, { parameterOverrides: wanted }: PostgresPatch): Change | false {
  if (wanted === undefined) return false
  const after = wanted ?? {}
  const set = Object.entries(after).filter(([key, value]) => before[key] !== value)
  const gone = Object.keys(before).filter((key) => !(key in after))
  if (set.length + gone.length === 0) return false
  const parts = [...set.map(([key, value]) => `${key}=${value}`), ...gone.map((key) => `${key} as the plan has it`)]
  return { text: parts.join(', '), isRestart: true }
}

function replicaChange({ readReplicas: before }: Postgres, { readReplicas: wanted }: PostgresPatch): Change | false {
  const [names, wantedNames] = [namesOf(before), namesOf(wanted ?? [])]
  if (wanted === undefined || names === wantedNames) return false
  return { text: wantedNames === '' ? 'no read replicas' : `the read replicas ${wantedNames}` }
}

const namesOf = (replicas: readonly { name: string }[]): string =>
  replicas
    .map(({ name }) => name)
    .toSorted()
    .join(', ')

function lossesIn(before: Postgres, { ipAllowList, readReplicas }: PostgresPatch): string[] {
  const kept = readReplicas === undefined ? before.readReplicas : (readReplicas ?? [])
  const gone = before.readReplicas.filter(({ name }) => !kept.some((replica) => replica.name === name))
  const out = rangesShutOut(before.ipAllowList, ipAllowList)
  return [
    ...(out.length === 0 ? [] : [`who connects from ${out.join(', ')} is cut off`]),
    ...gone.map(({ name }) => `the read replica ${name} is deleted`),
  ]
}

/** Settings that were asked for and are not in force: a server that did not come up with them has those of before. */
export const settingsNotKept = ({ parameterOverrides: now = {} }: Postgres, { parameterOverrides: wanted }: PostgresPatch): string[] =>
  Object.entries(wanted ?? {})
    .filter(([key, value]) => now[key] !== value)
    .map(([key, value]) => `${key}=${value}`)
