import type { Repository, SourceHostInstallation } from '../../shared/source-host.ts'
import { allPages } from '../api/pages.ts'
import { CliError } from '../base/error.ts'
import type { Context } from '../session/context.ts'
import { clean } from '../terminal/text.ts'

type Listed = { repo: Repository; cursor: string }[]

/** Repositories of all connected accounts. Those whose host cannot be asked are named, and keep nothing of the others back. @throws CliError where that is all of them. */
export async function repositoriesOfAll(context: Context, search: string | undefined): Promise<Listed> {
  const { configured, installations } = await context.client.call('getSourceHostStatus')
  if (!configured || installations.length < 2) return listed(context, search === undefined ? {} : { search })
  const found: Listed = []
  const problems: CliError[] = []
  for (const installation of installations)
    try {
      found.push(...(await listed(context, { installationId: installation.id, ...(search !== undefined && { search }) })))
    } catch (error) {
      problems.push(problemOf(context, installation, error))
    }
  const [first] = problems
  if (first !== undefined && problems.length === installations.length) throw first
  return found
}

const listed = ({ client }: Context, query: { search?: string; installationId?: string }): Promise<Listed> =>
  allPages((page) => client.call('listSourceHostRepos', { query: { ...page, ...query } }))

function problemOf(context: Context, { account, url }: SourceHostInstallation, error: unknown): CliError {
  if (!(error instanceof CliError) || error.code !== 'unavailable') throw error
  context.note(clean`Without those of ${account} at ${url}: ${error.message}`)
  return error
}
