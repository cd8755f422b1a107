/** Prometheus reads its own format, 0.0.4, and OpenMetrics 1.0, which differ in where `_total` stands and in how they end. */
export type Format = 'text' | 'openmetrics'

export interface Sample {
  suffix?: string
  labels: Readonly<Record<string, string>>
  value: number
}

export interface Family {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  samples: readonly Sample[]
}

export const contentTypes: Record<Format, string> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
}

/** Chooses OpenMetrics where it is accepted with at least the preference of plain text. */
export function formatFor(accept: string | null): Format {
  const preferences = (accept ?? '').toLowerCase().split(',').map(preferenceOf)
  const best = (wanted: (type: string) => boolean): number =>
    Math.max(0, ...preferences.filter(({ type }) => wanted(type)).map(({ quality }) => quality))
  const openMetrics = best((type) => type === 'application/openmetrics-text')
  return openMetrics > 0 && openMetrics >= best((type) => type === 'text/plain') ? 'openmetrics' : 'text'
}

function preferenceOf(part: string): { type: string; quality: number } {
  const [type = '', ...parameters] = part.split(';').map((piece) => piece.trim())
  const quality = parameters.find((parameter) => parameter.startsWith('q='))
  return { type, quality: quality === undefined ? 1 : Number(quality.slice(2)) || 0 }
}

export function exposition(families: readonly Family[], format: Format): string {
  const lines = families.filter(({ samples }) => samples.length > 0).flatMap((family) => linesOf(family, format))
  return `${[...lines, ...(format === 'openmetrics' ? ['# EOF'] : [])].join('\n')}\n`
}

function linesOf({ name, help, type, samples }: Family, format: Format): string[] {
  const full = type === 'counter' ? `${name}_total` : name
  const described = format === 'openmetrics' ? name : full
  return [
    `# HELP ${described} ${escapeHelp(help, format)}`,
    `# TYPE ${described} ${type}`,
    ...samples.map(({ suffix = '', labels, value }) => `${full}${suffix}${labelsOf(labels)} ${numberOf(value)}`),
  ]
}

function labelsOf(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const escapeLabel = (value: string): string => value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')

function escapeHelp(help: string, format: Format): string {
  const escaped = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
  return format === 'openmetrics' ? escaped.replaceAll('"', '\\"') : escaped
}

function numberOf(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  return String(value)
}
