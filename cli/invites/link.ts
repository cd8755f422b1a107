import { serverUrl } from '../base/config.ts'
import { usageError } from '../base/error.ts'

export interface InviteLink {
  token: string
  /** The server that the link leads to; undefined for a token alone. */
  url: string | undefined
}

const path = '/invite'

/** The token of an invite's link, and its server; or of the token alone. @throws CliError with the usage exit code. */
export function inviteIn(text: string): InviteLink {
  const given = text.trim()
  if (!given.includes('://')) {
    if (!/^[!-~]+$/.test(given)) throw usageError('This is neither the link of an invite nor its token.')
    return { token: given, url: undefined }
  }
  const url = URL.canParse(given) ? new URL(given) : undefined
  const token = url?.searchParams.get('token')
  if (url === undefined || !url.pathname.endsWith(path) || !token)
    throw usageError('This is not the link of an invite.', 'Give all of it, with its token=…')
  return { token, url: serverUrl(url.origin + url.pathname.slice(0, -path.length), 'The link') }
}
