/**
 * What to make of the ports that an instance listens on while it starts. An app that ignores $PORT is reached at its own port as long as there
 * is no doubt which that is. One that listens on loopback only is not, unless that is $PORT: what an app keeps to itself, such as the port of
 * an administrator, is shown to nobody.
 */
import type { Listener } from '../../engines/port/port.ts'

export interface SeenPorts {
  listeners: readonly Listener[]
  expected: number
  isPrivate: boolean
}

export type PortVerdict = { kind: 'none' } | { kind: 'use'; port: number; all: number[] } | { kind: 'misplaced'; reason: string }

/** Debuggers of Node, Python, Go and Java, and Erlang's port mapper: open long before the app they belong to. */
const NEVER_THE_APP = new Set([9229, 5678, 2345, 5005, 4369])

export function judgePorts({ listeners, expected, isPrivate }: SeenPorts): PortVerdict {
  const own = listeners.find(({ port }) => port === expected)
  if (own !== undefined && own.reach !== 'nowhere') return { kind: 'use', port: expected, all: [expected] }
  const others = listeners.filter(({ port }) => !NEVER_THE_APP.has(port))
  const open = others.flatMap(({ port, reach }) => (reach === 'address' ? [port] : []))
  const [first] = open
  if (first !== undefined && (open.length === 1 || isPrivate)) return { kind: 'use', port: first, all: open }
  if (others.length === 0) return { kind: 'none' }
  return { kind: 'misplaced', reason: reasonOf({ open, others, expected, isPrivate }) }
}

interface Misplaced {
  open: readonly number[]
  others: readonly Listener[]
  expected: number
  isPrivate: boolean
}

function reasonOf({ open, others, expected, isPrivate }: Misplaced): string {
  if (open.length > 0)
    return `It listens on ports ${inWords(open.map(String))}, and not on $PORT (${expected}), so nobody can tell which to use. Have it listen on $PORT.`
  const places = inWords(others.map(({ port, reach }) => (reach === 'loopback' ? `127.0.0.1:${port}` : `[::1]:${port}`)))
  if (others.some(({ port }) => port === expected))
    return `It listens on ${places} only, where it is not reached. Have it listen on 0.0.0.0.`
  const orNamed = isPrivate ? ', on 0.0.0.0, or set its port as PORT among the variables' : ' (on 0.0.0.0 or 127.0.0.1)'
  return `It listens on ${places} only, and not on $PORT (${expected}). Have it listen on $PORT${orNamed}.`
}

function inWords(words: readonly string[]): string {
  const shown = words.length > MOST_NAMED ? [...words.slice(0, MOST_NAMED), `${words.length - MOST_NAMED} more`] : words
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
}

const MOST_NAMED = 8
