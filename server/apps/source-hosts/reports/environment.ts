/** Domains that each machine or network has its own of (RFC 6761, 6762, 8375, 9476 and customs of routers). */
const COMMON = /(?:^|\.)(?:localhost|local|test|internal|alt|lan|home\.arpa)$/
const SUFFIX_CHARS = 6

/**
 * What a service is called at a host of repositories: its host name, which no other server's service has. Where the domain is one that others
 * have as well, a part of its id follows.
 */
export const environmentOf = ({ id, slug }: { id: string; slug: string }, domain: string): string =>
  COMMON.test(domain) ? `${slug}.${domain}-${id.slice(-SUFFIX_CHARS)}` : `${slug}.${domain}`
