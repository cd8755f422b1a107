/** The groups of the server from the top: each imports only from those on lines below it, and those of one line not from each other. */
export const levels = [
  ['boot'],
  ['api'],
  ['insight'],
  ['edge'],
  ['apps'],
  ['identity'],
  ['runtime'],
  ['telemetry'],
  ['http', 'ingress', 'engines', 'builders'],
  ['platform'],
] as const

/** The groups that files of this one may not import from. */
export function forbiddenTo(group: string): string[] {
  return levels
    .slice(0, (levelOf(group) ?? -1) + 1)
    .flat()
    .filter((other) => other !== group)
}

/** Place of a group from the top, 0 being the highest; undefined for what is none. */
export function levelOf(group: string): number | undefined {
  const level = levels.findIndex((groups) => (groups as readonly string[]).includes(group))
  return level === -1 ? undefined : level
}
