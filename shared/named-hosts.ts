/** A variable as people set it. */
export interface Variable {
  key: string
  value: string
}

/** The beginning of a value that is looked at, in characters: addresses are shorter, and the event loop waits meanwhile. */
const LOOKED_AT = 8192

/**
 * Places in which a host stands: in a URL, before a port, in a list of settings. Other words are not taken for hosts, so that nobody can
 * find out secrets by giving services the names that they guess.
 */
const places = [
  /\/\/(?:[^\s/?#@]*@)*([a-z0-9.-]+)/g,
  /(?:^|[\s,;])([a-z0-9.-]+):\d{1,5}(?=$|[\s,;/])/g,
  /\b(?:host|hostname|server|address|addr)=([a-z0-9.-]+)/g,
]

const hostKey = /(?:^|_)(?:HOST|HOSTNAME|ADDRESS|ADDR|URL|ENDPOINT|SERVER|SERVICE)$/i

/** Hosts that a variable names, in lower case: the whole value where the key says that it is one, and those in these places. */
export function hostsIn({ key, value }: Variable): string[] {
  const text = value.slice(0, LOOKED_AT).toLowerCase()
  const found = places.flatMap((place) => [...text.matchAll(place)].map(([, host = '']) => host))
  return hostKey.test(key) ? [text.trim(), ...found] : found
}
