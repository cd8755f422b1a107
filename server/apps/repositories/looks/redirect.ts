import { readFile } from 'node:fs/promises'
import { parseRepositoryUrl } from '../../../../shared/repository.ts'
import { OutgoingProblem } from '../../../platform/outgoing/problem.ts'
import { sendOutgoing } from '../../../platform/outgoing/send.ts'
import type { AppContext } from '../../context.ts'
import { policyOf } from '../../webhooks/url.ts'

const REFS = '/info/refs'

/** Where the server of a repository leads git to, as a URL on the same server; undefined where it leads nowhere. It is shown no credential. */
export async function redirectOf(
  { config, lookup }: Pick<AppContext, 'config' | 'lookup'>,
  text: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const repository = parseRepositoryUrl(text)
  if (repository === undefined || repository.scheme === 'ssh') return undefined
  const url = new URL(`${repository.href.replace(/\/+$/, '')}${REFS}?service=git-upload-pack`)
  try {
    const ca = await trusted(config.buildEnv.SSL_CERT_FILE)
    const answer = await sendOutgoing(
      { url, method: 'GET', headers: new Headers() },
      { ...policyOf(config), lookup, signal, longAnswer: 'cut', ca },
    )
    return repositoryAt(url, answer)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof OutgoingProblem) return undefined
    throw error
  }
}

/** Certificates that the operator has builds trust, which git goes by as well. */
const trusted = async (path: string | undefined): Promise<string | undefined> =>
  path === undefined ? undefined : await readFile(path, 'utf8').catch(() => undefined)

/** Another server, or a page that signs people in, is no new place of the repository. */
function repositoryAt(asked: URL, { status, headers }: Response): string | undefined {
  const location = headers.get('location')
  if (status < 300 || status >= 400 || location === null || !URL.canParse(location, asked.href)) return undefined
  const { origin, pathname } = new URL(location, asked)
  if (origin !== asked.origin || !pathname.endsWith(REFS) || pathname === asked.pathname) return undefined
  const url = origin + pathname.slice(0, -REFS.length)
  return parseRepositoryUrl(url) === undefined ? undefined : url
}
