import { type AppFolder, copyApp } from '../support/app-folder.ts'
import { type Compiled, type Executables, startCompiled } from '../support/compiled.ts'
import { deployFolder, instancesOf, serviceNamed, settledInstances } from '../support/compiled-steps.ts'
import { freePorts } from '../support/free-ports.ts'
import { until } from '../support/until.ts'
import { type Mixture, startMixture } from './load/mixture.ts'

/** A compiled server with an app that is live and under load. */
export interface World {
  cpd: Compiled
  app: AppFolder
  serviceId: string
  load: Mixture
  /** Deploys the next version and waits until it serves. */
  deployNext(args?: readonly string[]): Promise<void>
  /** Sets the next version, without deploying it. */
  nextVersion(): string
  /** What the app answers now. */
  answer(): Promise<string>
  /** Replaces all instances and waits until that is done. */
  restart(): Promise<void>
  /** After the load was stopped. */
  close(): Promise<void>
}

export interface WorldOptions {
  ratePerSecond: number
  seed: number
  instances?: number
  executables?: Executables
}

/** Long enough for the slowest request of the load on a machine that has much else to do. */
const DRAIN_SECONDS = 8
const RESTART_TIMEOUT_MS = 90_000
const WARM_UP = 50

export async function startWorld({ ratePerSecond, seed, instances = 1, executables }: WorldOptions): Promise<World> {
  const [tlsPort = 0] = freePorts(1)
  const cpd = await startCompiled({
    env: { CP_DRAIN_SECONDS: String(DRAIN_SECONDS), CP_INGRESS_HTTPS: `127.0.0.1:${tlsPort}`, CP_ACME_DIRECTORY: 'off' },
    ...(executables && { executables }),
  })
  const app = copyApp('traffic')
  const close = async () => {
    app.remove()
    await cpd.stop()
  }
  let version = 1
  try {
    await deployFolder(cpd, app.dir, ['--guard', '--instances', String(instances)])
    const { id: serviceId } = await serviceNamed(cpd, 'traffic')
    const ports = { httpPort: cpd.ingressPort, tlsPort }
    const load = startMixture({ host: 'traffic.localhost', ...ports, expected: 'traffic ', ratePerSecond, seed })
    await load.answered(WARM_UP)
    const nextVersion = () => {
      app.setVersion(String(++version))
      return String(version)
    }
    const answer = async () => (await (await cpd.appFetch('traffic')).text()).trim()
    return {
      cpd,
      app,
      serviceId,
      load,
      nextVersion,
      answer,
      async deployNext(args = ['--guard']) {
        const wanted = `traffic ${nextVersion()}`
        await deployFolder(cpd, app.dir, args)
        const given = await answer()
        if (given !== wanted) throw new Error(`After the deploy of "${wanted}" the app answers "${given}"`)
      },
      restart: () => restart(cpd, serviceId, instances),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function restart(cpd: Compiled, serviceId: string, instances: number): Promise<void> {
  const before = new Set((await instancesOf(cpd, serviceId)).map(({ id }) => id))
  const { exitCode, stderr } = await cpd.cpctl(['services', 'restart', 'traffic'])
  if (exitCode !== 0) throw new Error(`Not restarted: ${stderr}`)
  const isReplaced = async () => (await settledInstances(cpd, serviceId, instances)).every(({ id }) => !before.has(id))
  await until('the instances are replaced', isReplaced, RESTART_TIMEOUT_MS)
}
