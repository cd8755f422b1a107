import { CliError } from '../base/error.ts'
import type { Context } from '../session/context.ts'
import { repositoriesOfAll } from './repositories.ts'

/** The URL of a repository named by owner/name. @throws CliError where no connected account has it, or several do. */
export async function cloneUrlOf(context: Context, name: string): Promise<string> {
  const page = await repositoriesOfAll(context, name)
  const urls = [...new Set(page.filter(({ repo }) => repo.name.toLowerCase() === name.toLowerCase()).map(({ repo }) => repo.cloneUrl))]
  const [url] = urls
  if (url === undefined)
    throw new CliError('not_found', `No connected account has a repository ${name}.`, { hint: 'cpctl sourcehost repos lists them.' })
  if (urls.length > 1)
    throw new CliError('conflict', `Several hosts have a repository ${name}.`, { hint: `Give its URL: ${urls.join(' or ')}` })
  return url
}
