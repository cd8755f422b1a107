import { readdirSync } from 'node:fs'
import { expect } from 'vitest'
import { servicePathsOf } from '../../server/platform/paths.ts'
import { type Deploy, isDeployRunning } from '../../shared/deploy.ts'
import type { Instance, Service } from '../../shared/service.ts'
import type { Compiled } from './compiled.ts'
import { until } from './until.ts'

/**
 * `cpctl deploy` of a folder that must become live. Returns what it printed. Unless a guard is asked for there is none: it keeps the
 * instances of the release before.
 */
export async function deployFolder(cpd: Compiled, dir: string, args: readonly string[] = []): Promise<string> {
  const guard = args.some((arg) => arg.startsWith('--guard')) ? [] : ['--no-guard']
  const { exitCode, stdout, stderr } = await cpd.cpctl(['deploy', dir, ...args, ...guard])
  expect({ exitCode, stdout, stderr }).toMatchObject({ exitCode: 0 })
  return stdout
}

/** `cpctl` that must succeed. Returns what it printed. */
export async function cpctl(cpd: Compiled, ...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await cpd.cpctl(args)
  expect({ args, exitCode, stdout, stderr }).toMatchObject({ exitCode: 0 })
  return stdout
}

export async function serviceNamed(cpd: Compiled, name: string): Promise<Service> {
  const { body } = await cpd.api<{ service: Service }[]>(`/services?name=${name}`)
  const [found] = body
  if (found === undefined) throw new Error(`There is no service ${name}`)
  return found.service
}

/** Newest first. */
export async function deploysOf(cpd: Compiled, serviceId: string): Promise<Deploy[]> {
  const { body } = await cpd.api<{ deploy: Deploy }[]>(`/services/${serviceId}/deploys?limit=100`)
  return body.map(({ deploy }) => deploy)
}

export async function newestDeploy(cpd: Compiled, serviceId: string): Promise<Deploy> {
  const [newest] = await deploysOf(cpd, serviceId)
  if (newest === undefined) throw new Error(`${serviceId} has no deploy`)
  return newest
}

/** The newest deploy once it is in this status. */
export const deployIn = (cpd: Compiled, serviceId: string, status: Deploy['status'], timeoutMs = 30_000): Promise<Deploy> =>
  until(
    `the newest deploy is ${status}`,
    async () => {
      const newest = await newestDeploy(cpd, serviceId)
      if (newest.status !== status && !isDeployRunning(newest.status)) throw new Error(`It is ${newest.status}: ${newest.reason}`)
      return newest.status === status && newest
    },
    timeoutMs,
  )

export const instancesOf = async (cpd: Compiled, serviceId: string): Promise<Instance[]> =>
  (await cpd.api<Instance[]>(`/services/${serviceId}/instances`)).body

/** The instances once there are that many, all serving, and none is on its way out. Those that stand by do not count. */
export const settledInstances = (cpd: Compiled, serviceId: string, count: number): Promise<Instance[]> =>
  until(`${count} instances run and no other`, async () => {
    const instances = (await instancesOf(cpd, serviceId)).filter(({ status }) => status !== 'standby')
    return instances.length === count && instances.every(({ status }) => status === 'running') && instances
  })

/** What lies in the folders of a service that fill and empty with its deploys. */
export function foldersOf(cpd: Compiled, serviceId: string): { builds: string[]; releases: string[]; output: string[] } {
  const own = servicePathsOf(cpd.paths, serviceId)
  return { builds: readdirSync(own.builds), releases: readdirSync(own.releases), output: readdirSync(own.output) }
}
