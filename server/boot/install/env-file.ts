/** The settings of an installation as systemd reads them; what stands there already is kept, comments too, except for what is given anew. */
export function mergeEnvFile(
  existing: string | undefined,
  given: Readonly<Record<string, string>>,
  defaults: Readonly<Record<string, string>>,
): string {
  const left = new Map(Object.entries(given))
  const lines = (existing ?? HEADER).trimEnd().split('\n')
  const kept = lines.map((line) => {
    const name = nameOf(line)
    const value = name === undefined ? undefined : left.get(name)
    if (name === undefined || value === undefined) return line
    left.delete(name)
    return assignment(name, value)
  })
  const present = new Set(kept.map(nameOf))
  const missing = Object.entries({ ...defaults, ...Object.fromEntries(left) }).filter(([name]) => !present.has(name))
  return `${[...kept, ...missing.map(([name, value]) => assignment(name, value))].join('\n')}\n`
}

const HEADER = '# Settings of cpd; `cpd config` lists them all. Restart the unit after a change: apps are served meanwhile.'

const nameOf = (line: string): string | undefined => /^\s*([A-Za-z_]\w*)=/.exec(line)?.[1]

const assignment = (name: string, value: string): string => `${name}="${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
