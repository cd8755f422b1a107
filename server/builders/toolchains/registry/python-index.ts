/** A package index of Python's, as pip is told of it by PIP_INDEX_URL, PIP_CERT, PIP_PROXY and PIP_NO_INDEX. */
import { readFile } from 'node:fs/promises'
import { basicAuthorization } from './basic-authorization.ts'
import { type Fetching, fetchText, Unfetched } from './download.ts'
import type { BuildEnv, Way } from './way.ts'

const DEFAULT_INDEX = 'https://pypi.org/simple'

/** The page of uv has 2.6 MB: each of its releases has some twenty files. */
const MOST_PAGE_BYTES = 8 * 1024 * 1024

const JSON_OR_HTML = 'application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1'

/** Where a file of a project is, which both forms of a page tell between quotation marks (https://peps.python.org/pep-0691). */
export async function fileInIndex(project: string, file: string, { env, signal }: Fetching): Promise<URL> {
  const page = new URL(`${indexOf(env).replace(/\/+$/, '')}/${project}/`)
  const text = await fetchText(page, { way: pipWay(env), signal, mostBytes: MOST_PAGE_BYTES, accept: JSON_OR_HTML })
  const written = new RegExp(`"([^"\\s]*/${RegExp.escape(file)})["#]`).exec(text)?.[1]
  if (written === undefined || !URL.canParse(written, page.href)) throw new Unfetched(`${page.host} does not have ${file}`)
  const url = new URL(written, page)
  if (url.host === page.host) [url.username, url.password] = [page.username, page.password]
  return url
}

function indexOf(env: BuildEnv): string {
  const index = env.UV_DEFAULT_INDEX || env.PIP_INDEX_URL || DEFAULT_INDEX
  if (env.PIP_NO_INDEX && !['0', 'false', 'no'].includes(env.PIP_NO_INDEX)) throw new Unfetched('PIP_NO_INDEX has no index be asked')
  if (!/^https?:\/\//.test(index) || !URL.canParse(index)) throw new Unfetched('PIP_INDEX_URL is no https address')
  return index
}

export function pipWay(env: BuildEnv): Way {
  return async (url) => {
    const ca = env.PIP_CERT ? await readFile(env.PIP_CERT, 'utf8').catch(() => undefined) : undefined
    return {
      ...basicAuthorization(url),
      ...(env.PIP_PROXY && { proxy: env.PIP_PROXY }),
      ...(ca !== undefined && url.protocol === 'https:' && { tls: { ca } }),
    }
  }
}
