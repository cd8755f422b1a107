import { type DiskCreate, defaultSizeGb } from '../../../../shared/disk.ts'
import { AppError, invalidValue } from '../../../../shared/error.ts'
import type { ServiceCreate, ServicePatch } from '../../../../shared/service.ts'
import { defaultControls, type ServiceControls } from '../../../../shared/service-controls.ts'
import { detailsIn } from '../../../../shared/service-details.ts'
import { defaultLabels } from '../../../../shared/service-labels.ts'
import { traitsOf } from '../../../../shared/service-type.ts'
import { withinQuotas } from '../../../identity/quotas/enforce.ts'
import { newId } from '../../../platform/id.ts'
import type { AppContext } from '../../context.ts'
import { unfinishedDeploys } from '../../deploys/store.ts'
import { addDisk, checkNewDisk } from '../../disks/operations.ts'
import { diskOfService } from '../../disks/store.ts'
import { recordEvent } from '../../events/store.ts'
import { wake } from '../../instances/sleep.ts'
import type { Bind } from '../../variables/bind.ts'
import { refuseSameNames, resolveEnvInput } from '../../variables/rules.ts'
import { hostOf } from '../addresses.ts'
import { applyControls, refuseFreezing } from '../controls.ts'
import { replaceEnv, replaceSecretFiles } from '../env-store.ts'
import { insertService } from '../insert.ts'
import { applyLabels } from '../labels.ts'
import { refuseTooLarge } from '../plan-fit.ts'
import { requireService } from '../require.ts'
import { applyDetails, defaultSettings } from '../settings.ts'
import { limitSpace } from '../space-limit.ts'
import { isNameTaken, type StoredService, updateService } from '../store.ts'
import { untilRouted } from '../until-routed.ts'
import { refuseUserNamespaces } from '../user-namespaces.ts'
import { recordChanges } from './changes.ts'

export function createService(
  context: AppContext,
  { workspaceId, environmentId, bind }: Pick<StoredService, 'workspaceId' | 'environmentId'> & { bind: Bind },
  body: ServiceCreate,
): StoredService {
  const now = context.now()
  const id = newId(traitsOf(body.type).idKind, now)
  const details = detailsIn(body)
  const settings = applyDetails(body.type, { ...defaultSettings, rootDir: body.rootDir ?? '' }, details)
  refuseTooLarge(context.machine, defaultSettings, settings)
  refuseUserNamespaces(context.config, defaultSettings, settings)
  const controls = applyControls(defaultControls, details)
  refuseFreezing(context.engine.capabilities, defaultControls, controls)
  if (traitsOf(body.type).isScheduled) requireSchedule(controls)
  const labels = applyLabels(defaultLabels, body)
  const envVars = resolveEnvInput(body.envVars ?? [], { type: body.type, bind, pointer: '/envVars' })
  const secretFiles = body.secretFiles ?? []
  refuseSameNames(secretFiles)
  const numInstances = details.numInstances ?? 1
  const disk = newDiskOf(context, body, numInstances)
  const publicHost = new URL(context.publicUrl).hostname
  const service = withinQuotas(context, workspaceId, () => {
    refuseTakenName(context, workspaceId, { name: body.name })
    const row = {
      id,
      workspaceId,
      environmentId,
      name: body.name,
      type: body.type,
      numInstances,
      settings,
      controls,
      labels,
      createdAt: now,
    }
    insertService(context.db, row, (slug) => hostOf(context, slug) === publicHost)
    recordEvent(context.db, { owner: row, type: 'service_created', details: { type: row.type }, now })
    replaceEnv(context, id, envVars)
    replaceSecretFiles(context, id, secretFiles)
    const made = requireService(context, { workspaceId, scope: undefined }, id)
    if (disk !== undefined) addDisk(context, made, disk)
    return made
  })
  pokeDiskOf(context, id)
  context.work.poke('certificates')
  return service
}

function newDiskOf(context: AppContext, body: ServiceCreate, numInstances: number): Omit<DiskCreate, 'serviceId'> | undefined {
  const input = detailsIn(body).disk
  if (input == null) return undefined
  const disk = { ...input, sizeGB: input.sizeGB ?? defaultSizeGb }
  checkNewDisk(context, { type: body.type, numInstances }, disk, (field) => `/serviceDetails/disk/${field}`)
  return disk
}

function pokeDiskOf({ db, work }: AppContext, serviceId: string): void {
  const disk = diskOfService(db, serviceId)
  if (disk !== undefined) work.poke('disk', disk.id)
}

/**
 * Settings take effect with the next deploy, instances and controls at once: the ingress goes by them when this returns, unless it is away.
 * `current` gives the service, and refuses what is asked of it; it is asked once more in the change, as there may have been others.
 */
export async function patchService(
  context: AppContext,
  current: () => StoredService,
  { body, change, move }: { body: ServicePatch; change<T>(apply: () => T): T; move(): void },
): Promise<StoredService> {
  const { id, workspaceId } = current()
  const before = change(() =>
    withinQuotas(context, workspaceId, () => {
      const service = current()
      applyPatch(context, service, body)
      move()
      return service
    }),
  )
  const now = () => requireService(context, { workspaceId, scope: undefined }, id)
  const changed = now()
  await limitSpace(context, changed)
  context.work.poke('service', id)
  if (JSON.stringify(changed.controls) !== JSON.stringify(before.controls) || changed.environmentId !== before.environmentId)
    await untilRouted(context)
  return now()
}

function applyPatch(context: AppContext, service: StoredService, body: ServicePatch): void {
  const now = context.now()
  const { name = service.name, rootDir = service.settings.rootDir } = body
  const details = detailsIn(body)
  const settings = applyDetails(service.type, { ...service.settings, rootDir }, details)
  refuseTooLarge(context.machine, service.settings, settings)
  refuseUserNamespaces(context.config, service.settings, settings)
  const controls = applyControls(service.controls, details)
  refuseFreezing(context.engine.capabilities, service.controls, controls)
  const labels = applyLabels(service.labels, body)
  const numInstances = details.numInstances ?? service.numInstances
  if (details.disk != null) throw refusedDisk()
  refuseSeveralWithDisk(context, service, numInstances)
  refuseTakenName(context, service.workspaceId, { name, exceptId: service.id })
  updateService(context.db, service.id, { name, settings, controls, labels }, now)
  recordChanges(context.db, service, { settings, controls, now })
  if (numInstances !== service.numInstances) resize(context, service, numInstances)
}

export function scaleService(context: AppContext, service: StoredService, numInstances: number): void {
  refuseWithoutInstances(service, 'scale')
  if (numInstances === service.numInstances) return
  refuseSeveralWithDisk(context, service, numInstances)
  withinQuotas(context, service.workspaceId, () => resize(context, service, numInstances))
  context.work.poke('service', service.id)
}

export function restartService(context: AppContext, service: StoredService): void {
  refuseWithoutInstances(service, 'restart')
  if (service.suspendedAt !== null) throw new AppError('conflict', 'The service is suspended. Resume it instead.')
  if (service.liveDeployId === null) throw new AppError('conflict', 'Nothing of this service is live yet. Deploy it first.')
  const running = unfinishedDeploys(context.db, service.id).find(({ status }) => status === 'update_in_progress')
  if (running !== undefined)
    throw new AppError('conflict', `Deploy ${running.id} is about to replace the instances. Wait for it, or cancel it.`)
  updateService(context.db, service.id, { generation: Math.max(service.generation, service.liveGeneration) + 1 }, context.now())
  context.work.poke('service', service.id)
}

export function suspendService(context: AppContext, service: StoredService): void {
  if (service.suspendedAt !== null) return
  const now = context.now()
  context.db.transaction(() => {
    updateService(context.db, service.id, { suspendedAt: now }, now)
    recordEvent(context.db, { owner: service, type: 'service_suspended', now })
  })()
  context.work.poke('service', service.id)
}

export function resumeService(context: AppContext, service: StoredService): void {
  if (service.suspendedAt === null) return
  const now = context.now()
  context.db.transaction(() => {
    updateService(context.db, service.id, { suspendedAt: null }, now)
    recordEvent(context.db, { owner: service, type: 'service_resumed', now })
  })()
  context.work.poke('service', service.id)
}

function resize(context: AppContext, service: StoredService, numInstances: number): void {
  const now = context.now()
  updateService(context.db, service.id, { numInstances }, now)
  wake(context, service.id, 'scale')
  const details = { from: service.numInstances, to: numInstances }
  recordEvent(context.db, { owner: service, type: 'instance_count_changed', details, now })
}

function refuseTakenName(context: AppContext, workspaceId: string, { name, exceptId }: { name: string; exceptId?: string }): void {
  if (!isNameTaken(context.db, workspaceId, name, exceptId)) return
  throw new AppError('conflict', `There is a service named ${name} already. Choose another name, or deploy to that one.`)
}

function refuseWithoutInstances({ type }: StoredService, verb: string): void {
  const { runsProgram, isScheduled } = traitsOf(type)
  if (!runsProgram) throw new AppError('conflict', `A static site has no instances to ${verb}.`)
  if (isScheduled) throw new AppError('conflict', `A cron job has no instances to ${verb}. cpctl cron trigger runs it now.`)
}

function refuseSeveralWithDisk({ db }: AppContext, service: StoredService, numInstances: number): void {
  const disk = numInstances > 1 ? diskOfService(db, service.id) : undefined
  if (disk !== undefined)
    throw new AppError(
      'conflict',
      `The service has the disk ${disk.name}, which one instance alone can have: it cannot be scaled beyond 1.`,
    )
}

function refusedDisk(): AppError {
  return invalidValue(
    '/serviceDetails/disk',
    'A disk is given to a service that is there with POST /v1/disks, and changed with PATCH /v1/disks/{id}.',
  )
}

function requireSchedule({ cron: { schedule } }: ServiceControls): void {
  if (schedule !== '') return
  throw invalidValue('/serviceDetails/schedule', 'A cron job needs a schedule, such as 0 3 * * * for every night at three.')
}
