/**
 * `npx bun test/soak/main.ts abuse|deploys|server-kills|ingress-kills|upgrades|upgrade-from|cycles|schemathesis|webhook-kills|webhook-retries|datastore-kills|datastore-steps|datastore-upgrades|clients|ports|postgres-recovery|apps|frameworks [options]`: the long proofs: that no request is lost and nothing is left, on the
 * executables in dist/, and that the API answers as its document says.
 * Prints a summary line and what failed, and ends with 1 where something did.
 */
import { parseArgs } from 'node:util'
import { abuse } from './abuse.ts'
import { apps } from './apps.ts'
import { clients } from './clients.ts'
import { cycles } from './cycles.ts'
import { datastoreKills } from './datastore-kills.ts'
import { datastoreSteps } from './datastore-steps.ts'
import { datastoreUpgrades } from './datastore-upgrades.ts'
import { deploys } from './deploys.ts'
import { frameworks } from './frameworks.ts'
import { ingressKills } from './ingress-kills.ts'
import type { Outcome } from './outcome.ts'
import { ports } from './ports.ts'
import { postgresRecovery } from './postgres-recovery.ts'
import { schemathesis } from './schemathesis.ts'
import { serverKills } from './server-kills.ts'
import { upgradeFrom } from './upgrade-from.ts'
import { upgrades } from './upgrades.ts'
import { webhookKills } from './webhook-kills.ts'
import { webhookRetries } from './webhook-retries.ts'

if (import.meta.main) {
  const count = (value: string) => ({ type: 'string', default: value }) as const
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      deploys: count('100'),
      restarts: count('20'),
      rollbacks: count('20'),
      'server-kills': count('50'),
      'hand-overs': count('20'),
      'ingress-kills': count('5'),
      cycles: count('1000'),
      events: count('10000'),
      kills: count('20'),
      services: count('50'),
      requests: count('20000'),
      rate: count('200'),
      instances: count('1'),
      seed: count('1'),
      seconds: count('60'),
      targets: count('20'),
      losses: count('5'),
      attacks: count('windows,interim,rules,compression'),
      executable: count('dist/cpd'),
      only: count(''),
      pictures: count(''),
      connections: count('10000'),
      drained: { type: 'boolean', default: false },
    },
  })
  const load = { ratePerSecond: Number(values.rate), seed: Number(values.seed) }
  const instances = Number(values.instances)
  const only = values.only.split(',').filter((name) => name !== '')
  const programs: Record<string, () => Promise<Outcome>> = {
    abuse: () => abuse({ seconds: Number(values.seconds), attacks: values.attacks.split(','), executable: values.executable }),
    deploys: () =>
      deploys({
        ...load,
        instances,
        deploys: Number(values.deploys),
        restarts: Number(values.restarts),
        rollbacks: Number(values.rollbacks),
      }),
    'server-kills': () => serverKills({ ...load, instances, kills: Number(values['server-kills']) }),
    'ingress-kills': () => ingressKills({ ...load, handOvers: Number(values['hand-overs']), kills: Number(values['ingress-kills']) }),
    upgrades: () => upgrades(load),
    'upgrade-from': () => upgradeFrom({ ...load, from: values.executable }),
    'postgres-recovery': () =>
      postgresRecovery({
        ...{ targets: Number(values.targets), losses: Number(values.losses) },
        ...{ seconds: Number(values.seconds), seed: Number(values.seed) },
      }),
    schemathesis: () => schemathesis({ requests: Number(values.requests), seed: Number(values.seed) }),
    'webhook-kills': () => webhookKills({ events: Number(values.events), kills: Number(values.kills), seed: Number(values.seed) }),
    'webhook-retries': () => webhookRetries(),
    'datastore-steps': () => datastoreSteps({ kills: Number(values.kills), seed: Number(values.seed), only }),
    'datastore-upgrades': () => datastoreUpgrades({ isDrained: values.drained }),
    ports: () => ports({ connections: Number(values.connections) }),
    clients: () => clients(only),
    apps: () => apps(only),
    frameworks: () => frameworks({ only, pictures: values.pictures }),
    'datastore-kills': () => datastoreKills({ kills: Number(values['server-kills']), seed: Number(values.seed) }),
    cycles: () => cycles({ cycles: Number(values.cycles), services: Number(values.services), seed: Number(values.seed) }),
  }
  const program = programs[positionals[0] ?? '']
  if (program === undefined) {
    console.error(`Say which of these is to be run: ${Object.keys(programs).join(', ')}`)
    process.exit(2)
  }
  console.log(`${positionals[0]}, seed ${load.seed}`)
  const { summary, failures } = await program()
  for (const failure of failures) console.log(`FAILED: ${failure}`)
  console.log(`${positionals[0]}: ${summary}; seed ${load.seed}`)
  process.exit(failures.length > 0 ? 1 : 0)
}
