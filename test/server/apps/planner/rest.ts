import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { deleteService } from '../../../../server/apps/services/delete.ts'
import { resumeService } from '../../../../server/apps/services/routes/operations.ts'
import { serviceById } from '../../../../server/apps/services/store.ts'
import { preDeployIdOf } from '../../../../server/apps/workloads/step-store.ts'
import { allWorkloads } from '../../../../server/runtime/workloads/store.ts'
import type { FakeWorld } from '../../../support/fake-world.ts'
import type { MadeService } from './made-service.ts'
import { lasting } from './programs.ts'
import { expectToldOnce } from './told.ts'

/** Past the longest pause between two starts. */
const REST_MS = 65_000
const MOST_RESTS = 40

/** Has everything work again, and sees that all comes to what is wanted of it, lives on, and goes when it is deleted. */
export async function expectGoodEnd(world: FakeWorld, services: readonly MadeService[], told: string): Promise<void> {
  repair(world)
  await restUntil(world, () => services.every((service) => isAtRest(service)))
  for (const service of services) expectAtRest(world, service, told)
  for (const { row } of services) resumeService(world.context, row)
  const last = new Map(services.map((service) => [service, service.deploy(lasting.good)]))
  await restUntil(world, () => services.every((service) => isAtRest(service)))
  for (const service of services) {
    expectAtRest(world, service, told)
    const ended = service.deploys().find(({ id }) => id === last.get(service))
    expect(ended, `${told}, ${service.name}: ${ended?.reason}`).toMatchObject({ status: 'live' })
  }
  await expectRemoved(world, services, told)
  expectToldOnce(
    world,
    services.map(({ id }) => id),
    told,
  )
}

function repair({ machine, ingress }: FakeWorld): void {
  machine.faults.clear()
  ingress.isAway = false
  ingress.busy.clear()
}

/** Lets much time pass; files are written and removed in the machine's own. */
async function restUntil(world: FakeWorld, isDone: () => boolean): Promise<void> {
  for (let rest = 0; rest < MOST_RESTS && !isDone(); rest++) {
    await world.pass(REST_MS)
    await sleep(rest)
  }
  await world.pass(REST_MS)
}

const isAtRest = (service: MadeService): boolean =>
  service.deploys().every(({ finishedAt }) => finishedAt !== undefined) && endedJobs(service) && (isAiling(service) || isWhole(service))

/** A command that goes on for ever is ended by whoever asked for it. */
function endedJobs(service: MadeService): boolean {
  const open = service.jobs.filter(({ finishedAt }) => finishedAt === null)
  for (const { id } of open) service.cancelJob(id)
  return open.length === 0
}

const isWhole = (service: MadeService): boolean =>
  service.running().length === wantedOf(service) && service.instances().length === wantedOf(service)

/** Its live release dies again and again, so how many of it run depends on the moment. */
function isAiling(service: MadeService): boolean {
  const command = service.liveCommand()
  return command !== undefined && !Object.values<string>(lasting).includes(command)
}

/** One that sleeps by stopping has nothing run. */
function wantedOf({ row }: MadeService): number {
  return row.suspendedAt !== null || row.liveDeployId === null || row.asleep?.how === 'stop' ? 0 : row.numInstances
}

function expectAtRest(world: FakeWorld, service: MadeService, told: string): void {
  const where = `${told}, ${service.name}`
  const open = service.deploys().filter(({ finishedAt }) => finishedAt === undefined)
  expect(open, where).toEqual([])
  const live = service.deploys().filter(({ status }) => status === 'live')
  const { liveDeployId } = service.row
  expect(
    live.map(({ id }) => id),
    where,
  ).toEqual(liveDeployId === null ? [] : [liveDeployId])
  expectJobsOver(world, service, where)
  for (const { id } of service.deploys()) expect(world.machine.starts(preDeployIdOf({ id })), `${where}, ${id}`).toBeLessThanOrEqual(1)
  if (!isAiling(service)) expectWhole(world, service, where)
}

function expectJobsOver(world: FakeWorld, service: MadeService, where: string): void {
  for (const { id, finishedAt } of service.jobs) {
    expect(finishedAt, `${where}, ${id}`).not.toBeNull()
    expect(world.machine.starts(id), `${where}, ${id}`).toBeLessThanOrEqual(1)
  }
}

function expectWhole(world: FakeWorld, service: MadeService, where: string): void {
  const running = service.running().sort()
  expect(running, where).toHaveLength(wantedOf(service))
  expect(service.instances().sort(), where).toEqual(running)
  if (world.ingress.routeOf(service.id)?.kind !== 'proxy') return
  const targets = world.ingress.targetsOf(service.id).map(({ instanceId }) => instanceId)
  expect(targets.sort(), where).toEqual(running)
}

async function expectRemoved(world: FakeWorld, services: readonly MadeService[], told: string): Promise<void> {
  for (const { row } of services) deleteService(world.context, row)
  const left = () => services.filter(({ id }) => serviceById(world.context.db, id) !== undefined)
  await restUntil(world, () => left().length === 0)
  expect(
    left().map(({ name }) => name),
    told,
  ).toEqual([])
  expect([world.machine.running(), [...world.machine.runs.keys()], allWorkloads(world.context.db)], told).toEqual([[], [], []])
  expect(
    services.filter(({ id }) => world.ingress.routeOf(id) !== undefined),
    told,
  ).toEqual([])
}
