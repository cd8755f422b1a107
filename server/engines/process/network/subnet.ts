import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../../../shared/error.ts'
import { replaceFileSync } from '../../../platform/files/replace-file.ts'
import { candidateSubnets, isSubnet, isTaken, parseSubnet, type Subnet } from './addresses.ts'
import { runTool } from './tools.ts'

/**
 * The subnet of this installation, claimed in the host's routes: what no instance answers for is unreachable at once instead of leaving
 * for the world, and another installation on this machine sees that the subnet is taken.
 */
export interface ClaimedSubnet {
  subnet: Subnet
  release(): Promise<void>
}

export interface ClaimOptions {
  directory: string
  wanted: Subnet | undefined
  registered: string | undefined
  isInUse: boolean
  others: readonly string[]
}

/** Larger than any that a user or daemon would set: every other route is looked at before. */
const METRIC = '4278198272'
const FILE = 'subnet'

/** @throws AppError `unavailable` when the wanted subnet is used by the host, or none is free. */
export async function claimSubnet({ directory, wanted, registered, isInUse, others }: ClaimOptions): Promise<ClaimedSubnet> {
  const path = join(directory, FILE)
  const remembered = readRemembered(path)
  if (remembered !== undefined && isInUse) return await keep(path, remembered)
  if (registered !== undefined) await unclaimSubnet(parseSubnet(registered))
  const taken = [...networksIn(await readRoutes()), ...others]
  const candidates = wanted === undefined ? [...(remembered === undefined ? [] : [remembered]), ...candidateSubnets] : [wanted]
  for (const subnet of candidates.filter((one) => !isTaken(one, taken))) {
    remember(path, subnet)
    try {
      return await claim(path, subnet)
    } catch {}
  }
  throw new AppError(
    'unavailable',
    `${wanted?.cidr ?? 'Every network to choose from'} is used by this machine already; set CP_INSTANCE_SUBNET to a free one`,
  )
}

/** Undefined for a file that a loss of power has emptied, too: nothing runs then that has addresses of it. */
function readRemembered(path: string): Subnet | undefined {
  const text = existsSync(path) ? readFileSync(path, 'utf8').trim() : ''
  return isSubnet(text) ? parseSubnet(text) : undefined
}

/** Before it is claimed, so that nothing is claimed where a full disk forbids it. */
function remember(path: string, { cidr }: Subnet): void {
  replaceFileSync(path, `${cidr}\n`)
}

/** What runs has addresses of it, so it is kept whoever else may have come into it. */
async function keep(path: string, subnet: Subnet): Promise<ClaimedSubnet> {
  if ((await readRoutes()).includes(`unreachable ${subnet.cidr}`)) return claimed(path, subnet)
  return await claim(path, subnet)
}

async function claim(path: string, subnet: Subnet): Promise<ClaimedSubnet> {
  await runTool(['ip', 'route', 'add', 'unreachable', subnet.cidr, 'metric', METRIC])
  return claimed(path, subnet)
}

function claimed(path: string, subnet: Subnet): ClaimedSubnet {
  return {
    subnet,
    release: async () => {
      await unclaimSubnet(subnet)
      rmSync(path, { force: true })
    },
  }
}

export const unclaimSubnet = async (subnet: Subnet): Promise<void> =>
  void (await runTool(['ip', 'route', 'del', 'unreachable', subnet.cidr, 'metric', METRIC]).catch(() => {}))

const readRoutes = (): Promise<string> => runTool(['ip', '-4', 'route', 'show', 'table', 'all'])

export const networksIn = (routes: string): string[] =>
  routes.split('\n').flatMap((line) => /^(?:[a-z]+ )?(\d+\.\d+\.\d+\.\d+(?:\/\d+)?)\b/.exec(line)?.[1] ?? [])

export async function readMtu(): Promise<number> {
  const device = /\bdev (\S+)/.exec(await runTool(['ip', '-4', 'route', 'show', 'default']))?.[1]
  const path = `/sys/class/net/${device}/mtu`
  return device !== undefined && existsSync(path) ? Number(readFileSync(path, 'utf8')) : 1500
}
