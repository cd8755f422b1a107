import { type Deploy, isDeployRunning } from '../../shared/deploy.ts'
import type { Service } from '../../shared/service.ts'
import { liveSourceOf } from '../deploying/live-source.ts'
import { pollDeploy } from '../deploying/watch.ts'
import { untilAvailable as untilStoreAvailable } from '../key-value/until-available.ts'
import { untilAvailable as untilDatabaseAvailable } from '../postgres/until-available.ts'
import type { Context } from '../session/context.ts'
import { clean } from '../terminal/text.ts'
import type { Datastore } from './datastores.ts'
import type { Copied, Copies } from './execute.ts'

export interface Deployed {
  name: string
  deploy: Deploy
}

/** Deploys copies that were never deployed, from what is live in their originals, and waits for all. @throws Interrupted on Ctrl-C; the deploys go on. */
export async function deployCopies(context: Context, { services: copied, datastores }: Copies): Promise<Deployed[]> {
  for (const datastore of datastores) await untilThere(context, datastore)
  const started: { service: Service; deploy: Deploy }[] = []
  for (const copy of copied) {
    const service = await context.client.call('getService', { params: { serviceId: copy.id } })
    const deploy = await startDeploy(context, copy, service)
    if (deploy !== undefined) started.push({ service, deploy })
  }
  if (started.length > 0) context.note(clean`Deploying ${started.map(({ service }) => service.name).join(', ')} …`)
  return Promise.all(started.map(({ service, deploy }) => untilDeployed(context, service, deploy)))
}

async function untilThere(context: Context, { kind, of }: Datastore): Promise<void> {
  await (kind === 'postgres' ? untilDatabaseAvailable(context, of) : untilStoreAvailable(context, of))
}

async function startDeploy(context: Context, { planned }: Copied, service: Service): Promise<Deploy | undefined> {
  if (service.latestDeployStatus === undefined) {
    context.note(clean`${service.name} is deployed already, and left as it is.`)
    return undefined
  }
  const sourceId = await liveSourceOf(context, planned.original.service)
  if (sourceId === undefined) {
    context.note(clean`${planned.original.service.name} is not live, so there is nothing to deploy ${service.name} from.`)
    return undefined
  }
  return context.client.call('createDeploy', { params: { serviceId: service.id }, body: { sourceId } })
}

async function untilDeployed(context: Context, service: Service, first: Deploy): Promise<Deployed> {
  const { client, io } = context
  const deploy = await pollDeploy(
    { client, serviceId: service.id, deployId: first.id, onStatus() {}, interrupted: io.interrupted },
    first,
    ({ status }) => !isDeployRunning(status),
  )
  const { url } = service.serviceDetails
  if (deploy.status === 'live') context.note(clean`${service.name} is live${url === undefined ? '' : ` at ${url}`}`)
  else context.note(clean`${service.name} did not become live: ${deploy.reason ?? deploy.status.replaceAll('_', ' ')}`)
  return { name: service.name, deploy }
}
