import { trimBlanks } from '../message/characters.ts'
import { spells } from '../message/known-names.ts'
import type { RequestHead } from '../message/request-head.ts'

export interface Asked {
  range: string | undefined
  ifRange: string | undefined
  ifNoneMatch: string | undefined
  ifModifiedSince: string | undefined
  acceptEncoding: string | undefined
}

const wanted: readonly (readonly [name: string, key: keyof Asked] | undefined)[] = byLength([
  ['range', 'range'],
  ['if-range', 'ifRange'],
  ['if-none-match', 'ifNoneMatch'],
  ['if-modified-since', 'ifModifiedSince'],
  ['accept-encoding', 'acceptEncoding'],
])

/** Reads it in one pass over the head; repeated fields are joined as RFC 9110 section 5.3 allows. */
export function readAsked({ text, linesFrom }: RequestHead): Asked {
  const asked: Asked = {
    range: undefined,
    ifRange: undefined,
    ifNoneMatch: undefined,
    ifModifiedSince: undefined,
    acceptEncoding: undefined,
  }
  const end = text.length - 2
  for (let at = linesFrom; at < end; ) {
    const colon = text.indexOf(':', at)
    const lineEnd = text.indexOf('\r\n', colon)
    const candidate = wanted[colon - at]
    if (candidate !== undefined && spells(text, at, candidate[0])) {
      const value = trimBlanks(text, colon + 1, lineEnd)
      const before = asked[candidate[1]]
      asked[candidate[1]] = before === undefined ? value : `${before}, ${value}`
    }
    at = lineEnd + 2
  }
  return asked
}

function byLength(names: (readonly [name: string, key: keyof Asked])[]): (readonly [string, keyof Asked] | undefined)[] {
  const longest = Math.max(...names.map(([name]) => name.length))
  return Array.from({ length: longest + 1 }, (_, length) => names.find(([name]) => name.length === length))
}
