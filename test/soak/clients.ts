import { runProcess } from '../../server/platform/process/spawn.ts'
import { environmentOf, type NamedClient, namedClients, type Place } from './clients/named.ts'
import { strangers } from './clients/strangers.ts'
import { type Found, renderTable, type Way } from './clients/table.ts'
import { type ClientsWorld, startClientsWorld } from './clients/world.ts'
import { type Outcome, progress, secondsSince } from './outcome.ts'

const CLIENT_LIMIT_MS = 300_000

/**
 * Every client that people use, inside at the private name and outside by TLS with the certificate verified: what it does all day, a request
 * to cancel, a connection that is lost, another password. Then two workspaces that try what is each other's.
 */
export async function clients(only: readonly string[]): Promise<Outcome> {
  const startedAt = performance.now()
  const chosen = namedClients.filter(({ name }) => only.length === 0 || only.includes(name))
  const world = await startClientsWorld(progress)
  try {
    const found: Found[] = []
    for (const client of chosen) {
      for (const way of ['inside', 'outside'] as const) {
        const checks = await tryOut(world, client, { way, place: await placeOf(world, client, way) })
        found.push({ client: client.name, way, checks })
        progress(
          `${client.name} ${way}: ${checks.map(({ name, problem }) => (problem === undefined ? name : `${name} FAILED`)).join(', ')}`,
        )
      }
    }
    await afterRotation(world, chosen, found)
    const failed = found.flatMap(({ client, way, checks }) =>
      checks.flatMap(({ name, problem }) => (problem === undefined ? [] : [`${client} ${way}, ${name}: ${problem}`])),
    )
    console.log(renderTable(found))
    const between = await strangers(world)
    const count = found.reduce((sum, { checks }) => sum + checks.length, 0)
    const summary = `${chosen.length} clients, inside and outside, in ${secondsSince(startedAt)} s: ${count} checks, ${failed.length} failed; ${between.tried} tries of another workspace, ${between.failures.length} got through`
    return { summary, failures: [...failed, ...between.failures] }
  } finally {
    await world.close()
  }
}

async function placeOf({ postgres, keyValue, caFile }: ClientsWorld, { speaks }: NamedClient, way: Way): Promise<Place> {
  const { internalConnectionString, externalConnectionString } = await (speaks === 'postgres' ? postgres : keyValue).info()
  return way === 'inside' ? { url: internalConnectionString, caFile: undefined } : { url: externalConnectionString, caFile }
}

interface Trial {
  way: Way
  place: Place
  /** The one check that is asked for. */
  only?: string
}

async function tryOut(world: ClientsWorld, client: NamedClient, { way, place, only }: Trial): Promise<Found['checks']> {
  const env = { ...environmentOf(client, place), ...(only !== undefined && { ONLY: only }) }
  const { stdout, stderr } = way === 'inside' ? await runInside(world, client, env) : await runOutside(world, client, env)
  const checks = stdout.split('\n').flatMap((line) => {
    const [name = '', status, problem] = line.split('\t')
    if (status === 'ok') return [{ name }]
    return status === 'failed' ? [{ name, problem: problem ?? 'no reason' }] : []
  })
  return checks.length > 0 ? checks : [{ name: only ?? 'connect', problem: `It said ${`${stdout}${stderr}`.trim().slice(-300)}` }]
}

/** Runs a client as a job in the sandbox of a deployed app. */
function runInside({ cpd }: ClientsWorld, { app, argv }: NamedClient, env: Record<string, string>) {
  const command = ['env', ...Object.entries(env).map(([name, value]) => `${name}=${value}`), ...argv]
  return cpd.cpctl(['run', app, '--plan', 'pro', '--', ...command])
}

async function runOutside(world: ClientsWorld, { app, argv }: NamedClient, env: Record<string, string>) {
  const cwd = await world.releaseOf(app)
  const { PATH = '', HOME = '' } = process.env
  return await runProcess([...world.resolving, ...argv], { cwd, env: { PATH, HOME, ...env }, timeoutMs: CLIENT_LIMIT_MS })
}

/** Both passwords are good at first; the former one is not in the end. */
async function afterRotation(world: ClientsWorld, chosen: readonly NamedClient[], found: Found[]): Promise<void> {
  const ways = ['inside', 'outside'] as const
  const places = (client: NamedClient) => Promise.all(ways.map(async (way) => ({ client, way, place: await placeOf(world, client, way) })))
  const former = (await Promise.all(chosen.map(places))).flat()
  const { username } = new URL((await world.postgres.info()).internalConnectionString)
  await world.cpctl('postgres', 'credentials', 'rotate', 'db')
  await world.cpctl('kv', 'credentials', 'cache', '--rotate')
  const connects = async (trial: { client: NamedClient } & Trial) => {
    const [first] = await tryOut(world, trial.client, { ...trial, only: 'connect' })
    return first?.problem
  }
  const note = ({ client, way }: { client: NamedClient; way: Way }, check: { name: string; problem?: string }) =>
    found.find((one) => one.client === client.name && one.way === way)?.checks.push(check)
  const noted = (name: string, problem: string | undefined) => (problem === undefined ? { name } : { name, problem })
  for (const trial of former) note(trial, noted('both', await connects(trial)))
  await world.cpctl('postgres', 'credentials', 'delete', 'db', username, '--yes')
  await world.cpctl('kv', 'credentials', 'cache', '--rotate', '--former-hours', '0')
  const latter = (await Promise.all(chosen.map(places))).flat()
  for (const trial of latter) note(trial, noted('rotated', await connects(trial)))
  for (const trial of former) {
    const problem = await connects(trial)
    note(trial, noted('former', problem === undefined ? 'the former password still opens it' : undefined))
  }
  progress('another password was tried by all')
}
