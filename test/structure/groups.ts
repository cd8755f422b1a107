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
  const own = levels.findIndex((level) => (level as readonly string[]).includes(group))
  return levels
    .slice(0, own + 1)
    .flat()
    .filter((other) => other !== group)
}
