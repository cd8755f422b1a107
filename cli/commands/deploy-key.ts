import type { Command } from 'commander'
import type { DeployKey } from '../../shared/deploy-key.ts'
import { parseRepositoryUrl } from '../../shared/repository.ts'
import type { Service } from '../../shared/service.ts'
import { usageError } from '../base/error.ts'
import { resolveService } from '../finding/service.ts'
import type { Context, Start } from '../session/context.ts'
import { confirmByName } from '../session/prompt.ts'
import { clean, cleanText } from '../terminal/text.ts'

interface KeyOptions {
  rotate?: boolean
  forgetHosts?: boolean
  yes?: boolean
}

export function addDeployKeyCommand(services: Command, start: Start): void {
  services
    .command('deploy-key')
    .description('Show the public key that lets a service in at its repository by ssh, and the host keys of servers it has come to')
    .argument('[service]', 'Name or id; default: the one named after this folder')
    .option('--rotate', 'Make a new key; the one of before is used no more')
    .option('--forget-hosts', 'Trust the key that each server shows next, after its operator has changed it')
    .option('-y, --yes', 'Do not ask')
    .addHelpText('after', '\nExample:\n  cpctl services deploy-key web | ssh git.example.com tee -a .ssh/authorized_keys')
    .action((name: string | undefined, options: KeyOptions, command: Command) => run(start(command), name, options))
}

async function run(context: Context, name: string | undefined, options: KeyOptions): Promise<void> {
  if (options.rotate && options.forgetHosts) throw usageError('--rotate and --forget-hosts are two things.', 'Give one of the two.')
  const service = await resolveService(context, name)
  if (options.forgetHosts) return await forgetHosts(context, service, options.yes === true)
  print(context, options.rotate ? await rotated(context, service, options.yes === true) : await keyOf(context, service))
}

async function forgetHosts(context: Context, { id: serviceId, name }: Service, isConfirmed: boolean): Promise<void> {
  const { hostKeys } = await context.client.call('getDeployKey', { params: { serviceId } })
  if (!context.isJson) for (const line of hostKeys.map(hostLine)) context.note(line)
  await confirmByName(context, name, isConfirmed)
  await context.client.call('forgetHostKeys', { params: { serviceId } })
  if (!context.isJson) context.print(clean`${name} trusts the key that each git server shows next.`)
}

async function rotated(context: Context, { id: serviceId, name }: Service, isConfirmed: boolean): Promise<DeployKey> {
  if (!context.isJson) context.note(clean`${name} is let in nowhere until its git server has the new key.`)
  await confirmByName(context, name, isConfirmed)
  return await context.client.call('rotateDeployKey', { params: { serviceId } })
}

const keyOf = ({ client }: Context, { id: serviceId }: Service): Promise<DeployKey> =>
  client.call('getDeployKey', { params: { serviceId } })

function print(context: Context, key: DeployKey): void {
  if (context.isJson) {
    context.printJson(key)
    return
  }
  for (const line of key.hostKeys.map(hostLine)) context.note(line)
  context.print(cleanText(key.publicKey))
}

const hostLine = ({ host, fingerprint, pinnedAt }: DeployKey['hostKeys'][number]): string =>
  clean`${host} is known by ${fingerprint}, since ${pinnedAt}.`

/** What is to be done before a service can be deployed from a repository that is new to it, where that is reached by ssh. */
export async function showKeyIfBySsh(context: Context, service: Service): Promise<void> {
  const { repo = '', name } = service
  if (parseRepositoryUrl(repo)?.scheme !== 'ssh') return
  const { publicKey } = await keyOf(context, service)
  context.note(clean`Give the server of ${repo} this key, as a deploy key of the repository; to read is enough:`)
  context.print(cleanText(publicKey))
  context.note(clean`Then deploy: cpctl deploys create ${name}`)
}
