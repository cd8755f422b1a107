import { resolve } from 'node:path'
import { defaultMaxUploadBytes } from '../../../shared/deploy.ts'
import { AppError } from '../../../shared/error.ts'
import { parseSubnet } from '../../engines/process/network/addresses.ts'
import { checkHostServices } from '../../engines/process/network/host-services.ts'
import { INHERITED_VARIABLE, type InheritedListener, parseInherited } from '../../ingress/inherited.ts'
import { parseSender, parseSmtpUrl } from '../../platform/mail/settings.ts'
import { type Address, formatAddress, parseAddress } from '../../platform/network/address.ts'
import {
  integer,
  list,
  oneOf,
  optionalText,
  parseAddresses,
  parseAdminPassword,
  parseDirectory,
  parseDomain,
  parseEmail,
  parseOrigins,
  parseProviderName,
  parseProviderUrl,
  parseProxies,
  parsePublicUrl,
  parseQuotas,
  parseRanges,
  parseResolver,
  parseStaticToken,
} from '../../platform/settings/parsers.ts'

/** How a setting is read from text; each one names itself in its messages. */
interface Setting<T> {
  default: string | undefined
  flag?: string
  secret?: true
  help: string
  parse(text: string): T
}

const MIB = 1024 * 1024

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
  'GOPROXY',
  'GOSUMDB',
  'GONOSUMDB',
  'GOFLAGS',
  'npm_config_*',
  'CARGO_REGISTRIES_*',
  'CARGO_SOURCE_*',
  'CARGO_HTTP_*',
].join(',')

const settings = {
  CP_DATA_DIR: { default: undefined, flag: '--data', help: 'Folder that holds everything', parse: (value: string) => resolve(value) },
  CP_LISTEN: { default: '127.0.0.1:8400', flag: '--listen', help: 'Address of the API', parse: parseAddress },
  CP_PUBLIC_URL: { default: '', help: 'URL under which people reach the API; all links use it', parse: parsePublicUrl },
  CP_INGRESS_HTTP: { default: '127.0.0.1:8080', flag: '--ingress', help: 'Address at which services are reached', parse: parseAddress },
  CP_INGRESS_HTTPS: {
    default: '',
    flag: '--ingress-tls',
    help: 'Address at which services are reached over https; empty is none',
    parse: (value: string) => (value === '' ? undefined : parseAddress(value)),
  },
  CP_INGRESS_CONNECTIONS_PER_ADDRESS: {
    default: '1000',
    help: 'Connections to services that one client address, or one IPv6 /64, may have at a time; 0 is no limit, and trusted proxies have none',
    parse: integer(0, 1e6),
  },
  CP_API_CONNECTIONS_PER_ADDRESS: {
    default: '500',
    help: 'The same for connections to the API',
    parse: integer(0, 1e6),
  },
  CP_BASE_DOMAIN: { default: 'localhost', flag: '--base-domain', help: 'Services answer at <slug>.<base domain>', parse: parseDomain },
  CP_PUBLIC_ADDRESSES: {
    default: '',
    help: 'Addresses at which the world reaches this machine, for custom domains',
    parse: parseAddresses,
  },
  CP_DNS_RESOLVER: { default: '', help: 'Name server that custom domains are looked up at, address:port', parse: parseResolver },
  CP_ACME_DIRECTORY: {
    default: 'https://acme-v02.api.letsencrypt.org/directory',
    help: 'Directory of the authority that certificates come from; off obtains none',
    parse: parseDirectory,
  },
  CP_ACME_ROOT: { default: '', help: "PEM file with the root of the directory's own TLS", parse: optionalText },
  CP_ACME_EMAIL: {
    default: '',
    help: 'Where the authority may write to',
    parse: (value: string) => (value === '' ? undefined : parseEmail(value)),
  },
  CP_ACME_CHALLENGE: {
    default: 'http-01',
    help: 'How hosts are shown to be ours: http-01, tls-alpn-01 or dns-01',
    parse: oneOf(['http-01', 'tls-alpn-01', 'dns-01']),
  },
  CP_ACME_DNS_HOOK: { default: '', help: 'Program that sets DNS records, for dns-01 and wildcards', parse: optionalText },
  CP_ACME_EAB_KID: { default: '', help: 'Key id of the account at the authority, where it wants one', parse: optionalText },
  CP_ACME_EAB_HMAC: { default: '', secret: true, help: 'HMAC key of that account, base64url', parse: optionalText },
  CP_INSTANCE_SUBNET: {
    default: '',
    help: 'Network of 65536 addresses that instances get theirs from, such as 10.201.0.0/16; off has them all share the network of this machine',
    parse: (value: string) => (value === '' || value === 'off' ? value : parseSubnet(value).cidr),
  },
  CP_HOST_SERVICES: {
    default: '',
    help: 'Ports of this machine that services reach at <name>.host.internal, such as db=127.0.0.1:5432',
    parse: (value: string) => checkHostServices(list(value)),
  },
  CP_USER_NAMESPACES: {
    default: 'refuse',
    help: 'Whether services that set allowUserNamespaces may make user namespaces, as Chromium does for its sandbox: allow or refuse',
    parse: oneOf(['allow', 'refuse']),
  },
  CP_ENGINE: { default: 'process', flag: '--engine', help: 'What runs the workloads', parse: oneOf(['process']) },
  SERVICE_API_TOKEN: { default: '', secret: true, help: 'Break-glass Bearer token of the seeded administrator', parse: parseStaticToken },
  CP_ADMIN_EMAIL: { default: 'admin@localhost', help: 'Administrator seeded at first start', parse: parseEmail },
  CP_ADMIN_PASSWORD: { default: '', secret: true, help: 'Its password; absent, one is made and printed once', parse: parseAdminPassword },
  CP_REGISTRATION: { default: '', help: 'Who may register: open, invite or closed', parse: oneOf(['', 'open', 'invite', 'closed']) },
  CP_SMTP_URL: { default: '', secret: true, help: 'Mail server, smtp[s]://user:password@host:port; empty sends none', parse: parseSmtpUrl },
  CP_SMTP_FROM: { default: '', help: 'Address that mail comes from, with a name if wanted', parse: parseSender },
  CP_GITHUB_CLIENT_ID: { default: '', help: 'Client id of the GitHub app that people sign in with', parse: optionalText },
  CP_GITHUB_CLIENT_SECRET: { default: '', secret: true, help: 'Its client secret', parse: optionalText },
  CP_GITHUB_URL: { default: '', help: 'URL of a GitHub of your own', parse: parseProviderUrl },
  CP_GITHUB_API_URL: { default: '', help: 'URL of its API', parse: parseProviderUrl },
  CP_GOOGLE_CLIENT_ID: { default: '', help: 'Client id at Google, or at the OpenID provider that takes its place', parse: optionalText },
  CP_GOOGLE_CLIENT_SECRET: { default: '', secret: true, help: 'Its client secret', parse: optionalText },
  CP_GOOGLE_ISSUER: { default: '', help: "Issuer of that provider, such as your company's", parse: parseProviderUrl },
  CP_GOOGLE_NAME: { default: '', help: 'What the provider is called on the login page', parse: parseProviderName },
  CP_APPLE_CLIENT_ID: { default: '', help: 'Services ID for Sign in with Apple', parse: optionalText },
  CP_APPLE_TEAM_ID: { default: '', help: 'Team that it belongs to', parse: optionalText },
  CP_APPLE_KEY_ID: { default: '', help: 'Id of the key that signs for it', parse: optionalText },
  CP_APPLE_PRIVATE_KEY_FILE: { default: '', help: 'File of that key, as Apple gave it (.p8)', parse: optionalText },
  CP_APPLE_ISSUER: { default: '', help: 'Issuer in the place of Apple', parse: parseProviderUrl },
  CP_OUTGOING_ALLOW: {
    default: '',
    help: 'Private ranges (CIDRs) that requests may go to whose destination no setting names',
    parse: parseRanges,
  },
  CP_MASTER_KEY_FILE: { default: '', help: 'Key that encrypts secrets at rest; default <data>/master.key', parse: optionalText },
  CP_TRUSTED_PROXIES: { default: '', help: 'CIDRs whose forwarded headers count', parse: parseProxies },
  CP_RATE_LIMIT: {
    default: '6000',
    help: 'Requests a minute for one credential, or one address without; 0 is no limit of any kind',
    parse: integer(0, 1e9),
  },
  CP_WRITE_LIMIT: { default: '1200', help: 'Requests a minute that change something; 0 is no limit of their own', parse: integer(0, 1e9) },
  CP_DEPLOY_LIMIT: { default: '120', help: 'Uploads, deploys and rollbacks a minute; 0 is no limit of their own', parse: integer(0, 1e9) },
  CP_SIGN_IN_LIMIT: {
    default: '60',
    help: 'Sign-ins a minute from one address, and as many requests with tokens that nobody has; 0 is no limit of their own',
    parse: integer(0, 1e9),
  },
  CP_CORS_ORIGINS: {
    default: '',
    help: 'Origins whose pages may call the API with a key, such as https://panel.example.com; cookies never work there',
    parse: parseOrigins,
  },
  CP_LOGIN_LIMIT: { default: '10', help: 'Failed logins in 15 minutes of one address at one account', parse: integer(1, 1e6) },
  CP_BUILD_PASS: { default: defaultBuildPass, help: 'Names of our environment variables handed to builds', parse: list },
  CP_BUILD_PATH: {
    default: '',
    help: 'Where toolchains are looked for, beside the usual folders',
    parse: (value: string) => list(value.replaceAll(':', ',')),
  },
  CP_BUILD_TIMEOUT_SECONDS: { default: '1800', help: 'Longest time one build may take', parse: integer(1, 86_400) },
  CP_BUILD_CONCURRENCY: { default: '2', help: 'Builds at the same time', parse: integer(1, 64) },
  CP_QUOTAS: {
    default: '',
    help: 'What each workspace may have, such as services=20,memoryGb=8, where the operator has set nothing for it',
    parse: parseQuotas,
  },
  CP_HEALTH_TIMEOUT_SECONDS: { default: '300', help: 'Longest time a new release may take to become healthy', parse: integer(1, 3600) },
  CP_DRAIN_SECONDS: { default: '30', help: 'Longest time old instances are given to finish their requests', parse: integer(0, 3600) },
  CP_UPLOAD_MAX_MB: { default: String(defaultMaxUploadBytes / MIB), help: 'Largest source upload, in MiB', parse: integer(1, 1e6) },
  CP_SOURCE_MAX_MB: { default: '2048', help: 'Largest source once unpacked, in MiB', parse: integer(1, 1e6) },
  CP_RELEASES_KEPT: { default: '10', help: 'Releases of a service that a rollback can go back to', parse: integer(2, 1000) },
  CP_ACCESS_LOG: { default: 'on', help: 'Log a line for each request to a service: on or off', parse: oneOf(['on', 'off']) },
  CP_DISK_RESERVE_MB: {
    default: '',
    help: 'Space that stays free on the disk of the data: who fills it is stopped below; 0 stops nobody. Default: 1 GiB or 2 %, at most a tenth',
    parse: (value: string) => (value === '' ? undefined : integer(0, 1e9)(value)),
  },
  CP_LOG_RETENTION_DAYS: { default: '7', help: 'Days for which log lines are kept', parse: integer(1, 3650) },
  CP_LOG_MAX_MB: { default: '500', help: 'Most log text kept of one service, in MiB', parse: integer(1, 1e6) },
} satisfies Record<string, Setting<unknown>>

type Settings = typeof settings
export type SettingName = keyof Settings
export type Config = { readonly [K in SettingName]: ReturnType<Settings[K]['parse']> } & {
  /** The environment variables that builds are given, by CP_BUILD_PASS. */
  readonly buildEnv: Readonly<Record<string, string>>
}

/** Names of settings that another name is accepted for. */
const legacyNames: Partial<Record<SettingName, string>> = { SERVICE_API_TOKEN: 'CONTROL_PLANE_API_TOKEN' }

/**
 * The effective configuration out of the environment and the flags given, flags first.
 *
 * @throws AppError `bad_request` naming the variable that is unknown or whose value is not acceptable.
 */
export function readConfig(
  env: Readonly<Record<string, string | undefined>>,
  flags: Partial<Record<SettingName, string>>,
  isRoot: boolean,
): Config {
  refuseUnknown(env)
  const values: Record<string, unknown> = {}
  for (const name of Object.keys(settings) as SettingName[]) {
    const given = flags[name] ?? env[name] ?? env[legacyNames[name] ?? ''] ?? defaultOf(name, isRoot)
    values[name] = parseSetting(name, given)
  }
  values.buildEnv = passedToBuilds(values.CP_BUILD_PASS as string[], env)
  return Object.freeze(values as Config)
}

/** The configuration of this process. @throws AppError bad_request as `readConfig` does. */
export const configOfProcess = (flags: Partial<Record<SettingName, string>>): Config =>
  readConfig(process.env, flags, process.getuid?.() === 0)

/** Everything this process was given, for the one that takes its place. */
export const ownEnvironment = (): Record<string, string> =>
  Object.fromEntries(Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined))

/** The arguments this process was started with, after the executable. */
export const ownArguments = (): string[] => process.argv.slice(2)

/** What an ingress was told by its predecessor of the sockets it inherits. */
export const inheritedListeners = (): InheritedListener[] => parseInherited(process.env[INHERITED_VARIABLE])

/** @throws AppError bad_request naming the one of these settings that is unknown or whose value is not acceptable. */
export function checkSettings(given: Readonly<Record<string, string>>): void {
  refuseUnknown(given)
  for (const [name, value] of Object.entries(given)) parseSetting(name as SettingName, value)
}

const loopback = ['127.0.0.1', '::1', 'localhost']

/**
 * Keeps what we ask of this machine off a proxy that the environment names for the world outside: `fetch` would send even that there.
 * Each spelling of the variable counts for somebody.
 */
export function reachLoopbackDirectly(env: Record<string, string | undefined> = process.env): void {
  for (const name of ['NO_PROXY', 'no_proxy']) {
    const listed = env[name] ?? env.NO_PROXY ?? env.no_proxy
    env[name] = [...new Set([...(listed ?? '').split(',').filter(Boolean), ...loopback])].join(',')
  }
}

/** Flags of `cpd serve`, with the setting each one stands for. */
export const serveFlags = (Object.entries(settings) as [SettingName, Setting<unknown>][]).flatMap(([name, { flag, help }]) =>
  flag === undefined ? [] : [{ name, flag, help }],
)

/** The URL under which people reach the API, which all links use. */
export const publicUrlOf = ({ CP_PUBLIC_URL, CP_LISTEN }: Pick<Config, 'CP_PUBLIC_URL' | 'CP_LISTEN'>): string =>
  CP_PUBLIC_URL ?? `http://localhost:${CP_LISTEN.port}`

/** What is in force where a setting is empty. */
const whenEmpty: Partial<Record<SettingName, (config: Config) => string>> = {
  CP_PUBLIC_URL: publicUrlOf,
  CP_REGISTRATION: () => '(open while only this machine reaches the API, else invite)',
  CP_QUOTAS: () => '(the usual ones)',
  CP_MASTER_KEY_FILE: ({ CP_DATA_DIR }) => `${CP_DATA_DIR}/master.key`,
  CP_GITHUB_CLIENT_ID: () => '(none: no sign-in with GitHub)',
  CP_GITHUB_URL: () => 'https://github.com',
  CP_GITHUB_API_URL: ({ CP_GITHUB_URL }) => (CP_GITHUB_URL === undefined ? 'https://api.github.com' : `${CP_GITHUB_URL}/api/v3`),
  CP_GOOGLE_CLIENT_ID: () => '(none: no sign-in with Google or another OpenID provider)',
  CP_GOOGLE_ISSUER: () => 'https://accounts.google.com',
  CP_GOOGLE_NAME: () => 'Google',
  CP_APPLE_CLIENT_ID: () => '(none: no sign-in with Apple)',
  CP_APPLE_TEAM_ID: () => '(none)',
  CP_APPLE_KEY_ID: () => '(none)',
  CP_APPLE_PRIVATE_KEY_FILE: () => '(none)',
  CP_APPLE_ISSUER: () => 'https://appleid.apple.com',
  CP_OUTGOING_ALLOW: () => '(none)',
  CP_TRUSTED_PROXIES: () => '(none)',
  CP_CORS_ORIGINS: () => '(none)',
  CP_PUBLIC_ADDRESSES: () => "(the public ones of this machine's interfaces)",
  CP_DNS_RESOLVER: () => "(the system's)",
  CP_INGRESS_HTTPS: () => '(none)',
  CP_ACME_DIRECTORY: () => 'off',
  CP_SMTP_FROM: () => '(none: no mail is sent)',
  CP_ACME_ROOT: () => '(none)',
  CP_ACME_EMAIL: () => '(none)',
  CP_ACME_DNS_HOOK: () => '(none)',
  CP_ACME_EAB_KID: () => '(none)',
  CP_INSTANCE_SUBNET: () => '(one that this machine does not use)',
  CP_HOST_SERVICES: () => '(none)',
  CP_BUILD_PATH: () => '(the usual folders)',
  CP_DISK_RESERVE_MB: () => '(1 GiB or 2 % of the disk, at most a tenth of it)',
}

/** Every setting as `cpd config` prints it: effective values, secrets only as set or not. */
export function describeConfig(config: Config): { name: SettingName; value: string; help: string }[] {
  return (Object.entries(settings) as [SettingName, Setting<unknown>][]).map(([name, { secret, help }]) => ({
    name,
    value: secret ? (config[name] === undefined ? '(not set)' : '(set)') : printed(config[name]) || (whenEmpty[name]?.(config) ?? ''),
    help,
  }))
}

function defaultOf(name: SettingName, isRoot: boolean): string {
  if (name === 'CP_DATA_DIR') return isRoot ? '/var/lib/cpd' : './data'
  return settings[name].default ?? ''
}

function parseSetting(name: SettingName, value: string): unknown {
  try {
    return settings[name].parse(value)
  } catch (error) {
    throw new AppError('bad_request', `${name}: ${error instanceof Error ? error.message : 'not acceptable'}`)
  }
}

function refuseUnknown(env: Readonly<Record<string, string | undefined>>): void {
  const unknown = Object.keys(env).find((name) => name.startsWith('CP_') && !(name in settings))
  if (unknown !== undefined) throw new AppError('bad_request', `${unknown} is not a setting. \`cpd config\` lists those there are.`)
}

/** Our own settings are never among them, whatever the patterns say: the static token would hand the platform to every build. */
function passedToBuilds(patterns: string[], env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const ownNames = new Set([...Object.keys(settings), ...Object.values(legacyNames)])
  const isPassed = (name: string) =>
    !ownNames.has(name) && patterns.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern))
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && isPassed(entry[0])))
}

const printed = (value: unknown): string => {
  if (value === undefined) return ''
  if (Array.isArray(value)) return value.join(',')
  if (typeof value !== 'object' || value === null) return String(value)
  if ('host' in value) return formatAddress(value as Address)
  return Object.entries(value)
    .map(([name, limit]) => `${name}=${limit}`)
    .join(',')
}
