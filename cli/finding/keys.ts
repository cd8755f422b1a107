import type { ApiKey } from '../../shared/api-key.ts'
import { CliError } from '../base/error.ts'
import type { Context } from '../session/context.ts'

/** The key of this name or id. @throws CliError when there is none, or several have the name. */
export async function resolveKey({ client }: Pick<Context, 'client'>, nameOrId: string): Promise<ApiKey> {
  const found = (await client.call('listApiKeys')).filter(({ id, name }) => id === nameOrId || name === nameOrId)
  const [key, other] = found
  if (key === undefined) throw new CliError('not_found', `There is no API key ${nameOrId}.`, { hint: 'cpctl keys list shows them.' })
  if (other !== undefined)
    throw new CliError('conflict', `Several API keys are named ${nameOrId}.`, { hint: 'Give the id: cpctl keys list shows it.' })
  return key
}
