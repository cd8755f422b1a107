import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Route } from '../../../server/ingress/tables/route-table.ts'

export const HOSTILE_HOST = 'hostile.abuse.test'
export const FILES = 60
/** Larger than what is kept in memory. */
const HUGE_BYTES = 8 * 1024 * 1024
const HALF_CSS_BYTES = 256 * 1024

/** Files that are costly to hold, and to compress. */
export function writeHostileSite(root: string): void {
  writeFileSync(join(root, 'huge.bin'), Buffer.alloc(HUGE_BYTES, 'x'))
  for (let index = 0; index < FILES; index++) {
    const random = Buffer.from(crypto.getRandomValues(new Uint8Array(65_536))).toString('hex')
    writeFileSync(join(root, `${index}.css`), random.repeat((2 * HALF_CSS_BYTES) / random.length))
  }
}

/** What may be set of a service and costs most: names behind stars, in as many characters as the API takes. */
const worstRules = Array.from({ length: 8 }, (_, index) => ({
  type: 'redirect' as const,
  source: `/*${'/:a'.repeat(330)}/x${index}`,
  destination: '/x',
}))

/** The route of whoever attacks: an app where the attack has one, else the site. */
export function hostileRoute(root: string, attack: string, appPort: number): Route {
  const named = { serviceId: 'srv-hostile', name: 'hostile' }
  if (appPort > 0) return { kind: 'proxy', ...named, targets: [{ instanceId: 'ins-hostile', host: '127.0.0.1', port: appPort }] }
  return { kind: 'static', ...named, releaseId: 'rel-1', root, headers: [], rules: attack === 'rules' ? worstRules : [] }
}
