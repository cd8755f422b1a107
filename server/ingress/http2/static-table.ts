import { HeaderField } from './header-field.ts'

/** RFC 7541 appendix A, from index 1 on. */
const entries: readonly (readonly [name: string, value?: string])[] = [
  [':authority'],
  [':method', 'GET'],
  [':method', 'POST'],
  [':path', '/'],
  [':path', '/index.html'],
  [':scheme', 'http'],
  [':scheme', 'https'],
  [':status', '200'],
  [':status', '204'],
  [':status', '206'],
  [':status', '304'],
  [':status', '400'],
  [':status', '404'],
  [':status', '500'],
  ['accept-charset'],
  ['accept-encoding', 'gzip, deflate'],
  ['accept-language'],
  ['accept-ranges'],
  ['accept'],
  ['access-control-allow-origin'],
  ['age'],
  ['allow'],
  ['authorization'],
  ['cache-control'],
  ['content-disposition'],
  ['content-encoding'],
  ['content-language'],
  ['content-length'],
  ['content-location'],
  ['content-range'],
  ['content-type'],
  ['cookie'],
  ['date'],
  ['etag'],
  ['expect'],
  ['expires'],
  ['from'],
  ['host'],
  ['if-match'],
  ['if-modified-since'],
  ['if-none-match'],
  ['if-range'],
  ['if-unmodified-since'],
  ['last-modified'],
  ['link'],
  ['location'],
  ['max-forwards'],
  ['proxy-authenticate'],
  ['proxy-authorization'],
  ['range'],
  ['referer'],
  ['refresh'],
  ['retry-after'],
  ['server'],
  ['set-cookie'],
  ['strict-transport-security'],
  ['transfer-encoding'],
  ['user-agent'],
  ['vary'],
  ['via'],
  ['www-authenticate'],
]

/** By index - 1. */
export const staticFields: readonly HeaderField[] = entries.map(([name, value = '']) => new HeaderField(name, value))

/** The first index of each name. */
export const staticIndexOfName: ReadonlyMap<string, number> = new Map(
  entries.map(([name], index) => [name, index + 1] as const).toReversed(),
)

/** The index of each status that has one. */
export const staticIndexOfStatus: ReadonlyMap<number, number> = new Map(
  entries.flatMap(([name, value], index) => (name === ':status' ? [[Number(value), index + 1] as const] : [])),
)
