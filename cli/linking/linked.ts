import { homeOf } from '../base/config.ts'
import { CliError } from '../base/error.ts'
import { type Place, resolveEnvironment } from '../finding/environments.ts'
import type { Context } from '../session/context.ts'
import { type FoundLink, findLink } from './file.ts'

export const linkOf = ({ io }: Pick<Context, 'io'>, folder: string): Promise<FoundLink | undefined> => findLink(folder, homeOf(io.env))

/** The environment that a folder is linked to; undefined where it is not. @throws CliError when that is not to be seen here. */
export async function linkedPlace(context: Pick<Context, 'client' | 'io'>, folder: string): Promise<Place | undefined> {
  const link = await linkOf(context, folder)
  return link === undefined ? undefined : placeOfLink(context, link)
}

export async function placeOfLink(context: Pick<Context, 'client'>, link: FoundLink): Promise<Place> {
  try {
    return await resolveEnvironment(context, link.environmentId)
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== 'not_found') throw error
    const { url } = await context.client.target()
    throw new CliError(
      'not_found',
      `${link.path} links to ${link.project}/${link.environment} (${link.environmentId}), which ${url} does not have for you in this workspace.`,
      { cause: error, hint: 'Link anew with cpctl link <project/environment>, or remove the link with cpctl link --remove.' },
    )
  }
}
