import { groupsOfService } from '../../server/apps/env-groups/store/link-store.ts'
import { serviceById } from '../../server/apps/services/store.ts'
import { resolveVariables } from '../../server/apps/variables/resolve.ts'
import { groupLayer, ownLayer, resolvedVariables, surroundingsOf } from '../../server/apps/variables/resolved.ts'
import { createService } from '../support/apps.ts'
import { call } from '../support/client.ts'
import { startTestServer } from '../support/server.ts'

const GROUPS = 10
const KEYS = 100
const WARM_UP = 300
const MEASURED = 300
const ROUNDS = 5
/** A service with so many groups is resolved within this time. */
const WANTED_MS = 1

/**
 * What it costs to work out the variables of a service with ten groups of a hundred, half of which hide each other, one in ten of them
 * interpolated; beside Object.assign of the same values, which have been decrypted before.
 */
export async function run(): Promise<void> {
  const server = await startTestServer()
  const { context, url, adminToken: token } = server
  const id = await createService(server, { name: 'resolved', envVars: [{ key: 'HOST', value: 'db.example' }] })
  for (let group = 0; group < GROUPS; group++) {
    const envVars = Array.from({ length: KEYS }, (_, at) => ({
      key: `KEY_${(group * KEYS) / 2 + at}`,
      value: `value ${group} of about thirty characters at ${at % 10 === 0 ? '${HOST}' : 'nowhere'}`,
      interpolate: at % 10 === 0,
    }))
    await call(`${url}/v1/env-groups`, { json: { name: `group-${group}`, envVars, serviceIds: [id] }, token })
  }
  const service = serviceById(context.db, id)
  if (service === undefined) throw new Error('The service is not there')
  const groups = groupsOfService(context.db, id)
  const layers = [ownLayer(context, service), ...groups.map((group) => groupLayer(context, group))]
  const surroundings = surroundingsOf(context, service)
  const opened = layers.toReversed().map(({ variables }) => Object.fromEntries(variables.map(({ key, value }) => [key, value])))
  const works: Record<string, () => unknown> = {
    'read from the database, opened and resolved': () => resolvedVariables(context, service),
    'resolved alone': () => resolveVariables(layers, surroundings),
    'peer: Object.assign of values decrypted before': () => Object.assign({}, ...opened),
  }
  const best: Record<string, number> = {}
  // In turns, so that whatever else the machine does falls on all of them; the least of the rounds is the cost.
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, work] of Object.entries(works)) best[name] = Math.min(best[name] ?? Number.POSITIVE_INFINITY, millisecondsOf(work))
  const peer = best['peer: Object.assign of values decrypted before'] ?? 0
  for (const [name, ms] of Object.entries(best))
    console.log(`  ${ms.toFixed(3)} ms of processor time  ${name} (${(ms / peer).toFixed(1)} × the peer)`)
  const whole = best['read from the database, opened and resolved'] ?? Number.POSITIVE_INFINITY
  console.log(`  ${GROUPS} groups × ${KEYS} keys: ${whole < WANTED_MS ? 'under' : 'NOT under'} ${WANTED_MS} ms`)
  await server.close()
}

/** Processor time, which does not count what else the machine does meanwhile. */
function millisecondsOf(work: () => unknown): number {
  for (let n = 0; n < WARM_UP; n++) work()
  const before = process.cpuUsage()
  for (let n = 0; n < MEASURED; n++) work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / MEASURED
}
