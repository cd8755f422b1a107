import { integer, list } from '../platform/settings/parsers.ts'
import type { SettingRows, ValuesOf } from '../platform/settings/setting.ts'

/** What a closed network needs to reach its package registries; handed to builds when set. Never a secret of ours. */
const defaultBuildPass = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'PIP_*',
  'UV_PYTHON_INSTALL_MIRROR',
  'UV_PYTHON_DOWNLOADS_JSON_URL',
  'UV_DEFAULT_INDEX',
  'UV_INDEX',
  'GOPROXY',
  'GOSUMDB',
  'GONOSUMDB',
  'GOFLAGS',
  'npm_config_*',
  'CARGO_REGISTRIES_*',
  'CARGO_SOURCE_*',
  'CARGO_HTTP_*',
].join(',')

export const builderSettings = {
  CP_BUILD_PASS: { default: defaultBuildPass, help: 'Names of our environment variables handed to builds', parse: list },
  CP_BUILD_PATH: {
    default: '',
    help: 'Where toolchains are looked for, beside the usual folders',
    whenEmpty: '(the usual folders)',
    parse: (value: string) => list(value.replaceAll(':', ',')),
  },
  // One package takes 512 MiB at most until it is whole.
  CP_TOOLCHAINS_MAX_MB: { default: '4096', help: 'Most space for toolchains that builds had fetched, in MiB', parse: integer(1024, 1e8) },
  CP_BUILD_TIMEOUT_SECONDS: { default: '1800', help: 'Longest time one build may take', parse: integer(1, 86_400) },
  CP_BUILD_CONCURRENCY: { default: '2', help: 'Builds at the same time', parse: integer(1, 64) },
} satisfies SettingRows

export type BuilderSettings = ValuesOf<typeof builderSettings> & {
  readonly buildEnv: Readonly<Record<string, string>>
}
