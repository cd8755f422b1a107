import type { Service } from '../../shared/service.ts'
import { traitsOf } from '../../shared/service-type.ts'
import { allPages } from '../api/pages.ts'
import { CliError } from '../base/error.ts'
import type { Context } from '../session/context.ts'
import type { Original } from './service-input.ts'

type Asking = Pick<Context, 'client'>

/** A service with what a copy of it needs. @throws CliError when values are wanted that the caller may not see. */
export async function readOriginal(context: Asking, service: Service, isWithValues: boolean): Promise<Original> {
  const params = { serviceId: service.id }
  const [envVars, secretFiles, domains] = await Promise.all([
    allPages((query) => context.client.call('listEnvVars', { params, query })),
    allPages((query) => context.client.call('listSecretFiles', { params, query })),
    traitsOf(service.type).isRouted ? allPages((query) => context.client.call('listCustomDomains', { params, query })) : [],
  ])
  const variables = envVars.map(({ envVar }) => envVar)
  const files = secretFiles.map(({ secretFile }) => secretFile)
  if (isWithValues && [...variables, ...files].some(({ hidden }) => hidden))
    throw new CliError('forbidden', `You may not see the values of ${service.name}.`, {
      hint: 'They need env.read, and in a protected environment environments.manage_protected; or copy without --with-values.',
    })
  return {
    service,
    envVars: isWithValues ? variables : variables.map((variable) => ({ ...variable, value: '' })),
    secretFiles: isWithValues ? files : files.map((file) => ({ ...file, content: '' })),
    domains: domains.map(({ customDomain }) => customDomain.name),
  }
}
