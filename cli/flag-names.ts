/** Options whose names are not those of the fields they stand for. */
const flags: Record<string, string> = {
  numInstances: '--instances',
  maxShutdownDelaySeconds: '--shutdown-delay',
  ipAllowList: '--allow-ip',
  overlapPolicy: '--overlap',
  idleSeconds: '--sleep-after',
  windowSeconds: '--guard-window',
  errorRateThreshold: '--guard-threshold',
  mountPath: '--path',
}

const kebab = (field: string): string => `--${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`

/** The options of a command line that a server's refusal is about, told by the paths of the fields it names. */
export function flagsBehind(paths: readonly string[], argv: readonly string[]): string[] {
  const given = new Set(argv.map((word) => word.split('=', 1)[0] ?? ''))
  const candidates = paths.flatMap((path) => path.split(/[./[\]]+/)).flatMap((field) => [flags[field] ?? kebab(field), kebab(field)])
  return [...new Set(candidates)].filter((flag) => given.has(flag))
}
