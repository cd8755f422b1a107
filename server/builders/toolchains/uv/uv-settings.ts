/** Settings of pip's that uv has by other names (https://docs.astral.sh/uv/reference/environment). */
const names: readonly (readonly [pip: string, uv: string])[] = [
  ['PIP_INDEX_URL', 'UV_DEFAULT_INDEX'],
  ['PIP_EXTRA_INDEX_URL', 'UV_INDEX'],
  ['PIP_FIND_LINKS', 'UV_FIND_LINKS'],
  ['PIP_NO_INDEX', 'UV_NO_INDEX'],
  ['PIP_TRUSTED_HOST', 'UV_INSECURE_HOST'],
  ['PIP_CONSTRAINT', 'UV_CONSTRAINT'],
  ['PIP_DEFAULT_TIMEOUT', 'UV_HTTP_TIMEOUT'],
  ['PIP_CERT', 'SSL_CERT_FILE'],
  ['PIP_PROXY', 'ALL_PROXY'],
]

/** What uv is to be told of an environment that was made for pip. */
export const uvSettings = (env: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(names.flatMap(([pip, uv]) => (env[pip] ? [[uv, env[pip]]] : [])))
