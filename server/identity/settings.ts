import { integer, oneOf, optionalText, parseEmail } from '../platform/settings/parsers.ts'
import type { SettingRows, ValuesOf } from '../platform/settings/setting.ts'
import { parseAdminPassword, parseProviderName, parseProviderUrl, parseQuotas, parseStaticToken } from './setting-parsers.ts'

const accountSettings = {
  SERVICE_API_TOKEN: {
    default: '',
    secret: true,
    legacyName: 'CONTROL_PLANE_API_TOKEN',
    help: 'Break-glass Bearer token of the seeded administrator',
    parse: parseStaticToken,
  },
  CP_ADMIN_EMAIL: { default: 'admin@localhost', help: 'Administrator seeded at first start', parse: parseEmail },
  CP_ADMIN_PASSWORD: {
    default: '',
    secret: true,
    help: 'Password of that administrator; absent, one is made and printed once',
    parse: parseAdminPassword,
  },
  CP_REGISTRATION: {
    default: '',
    help: 'Who may register: open, invite or closed',
    whenEmpty: '(open while only this machine reaches the API, else invite)',
    parse: oneOf(['', 'open', 'invite', 'closed']),
  },
  CP_LOGIN_LIMIT: { default: '10', help: 'Failed logins in 15 minutes of one address at one account', parse: integer(1, 1e6) },
  CP_QUOTAS: {
    default: '',
    help: 'What each workspace may have, such as services=20,memoryGb=8, where the operator has set nothing for it',
    whenEmpty: '(the usual ones)',
    parse: parseQuotas,
  },
} satisfies SettingRows

const providerSettings = {
  CP_GITHUB_CLIENT_ID: {
    default: '',
    help: 'Client id of the GitHub app that people sign in with',
    whenEmpty: '(none: no sign-in with GitHub)',
    parse: optionalText,
  },
  CP_GITHUB_CLIENT_SECRET: { default: '', secret: true, help: 'Its client secret', parse: optionalText },
  CP_GITHUB_URL: { default: '', help: 'URL of a GitHub of your own', whenEmpty: 'https://github.com', parse: parseProviderUrl },
  CP_GITHUB_API_URL: {
    default: '',
    help: 'URL of its API',
    whenEmpty: ({ CP_GITHUB_URL }) => (CP_GITHUB_URL === undefined ? 'https://api.github.com' : `${CP_GITHUB_URL}/api/v3`),
    parse: parseProviderUrl,
  },
  CP_GOOGLE_CLIENT_ID: {
    default: '',
    help: 'Client id at Google, or at the OpenID provider that takes its place',
    whenEmpty: '(none: no sign-in with Google or another OpenID provider)',
    parse: optionalText,
  },
  CP_GOOGLE_CLIENT_SECRET: { default: '', secret: true, help: 'Its client secret', parse: optionalText },
  CP_GOOGLE_ISSUER: {
    default: '',
    help: "Issuer of that provider, such as your company's",
    whenEmpty: 'https://accounts.google.com',
    parse: parseProviderUrl,
  },
  CP_GOOGLE_NAME: { default: '', help: 'What the provider is called on the login page', whenEmpty: 'Google', parse: parseProviderName },
  CP_APPLE_CLIENT_ID: {
    default: '',
    help: 'Services ID for Sign in with Apple',
    whenEmpty: '(none: no sign-in with Apple)',
    parse: optionalText,
  },
  CP_APPLE_TEAM_ID: { default: '', help: 'Team that it belongs to', whenEmpty: '(none)', parse: optionalText },
  CP_APPLE_KEY_ID: { default: '', help: 'Id of the key that signs for it', whenEmpty: '(none)', parse: optionalText },
  CP_APPLE_PRIVATE_KEY_FILE: { default: '', help: 'File of that key, as Apple gave it (.p8)', whenEmpty: '(none)', parse: optionalText },
  CP_APPLE_ISSUER: { default: '', help: 'Issuer in the place of Apple', whenEmpty: 'https://appleid.apple.com', parse: parseProviderUrl },
} satisfies SettingRows

export const identitySettings = { ...accountSettings, ...providerSettings } satisfies SettingRows

export type IdentitySettings = ValuesOf<typeof identitySettings>
