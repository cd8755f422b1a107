import { type Static, Type } from '@sinclair/typebox'
import { OneOf, Time } from './schema.ts'

/** The kinds of providers there are. `google` stands for any OpenID provider: a company's own may take its place. */
export const providerIds = ['github', 'google', 'apple'] as const
export type ProviderId = (typeof providerIds)[number]

/** Whether the text names a kind of provider, configured or not. */
export const isProviderId = (text: string): text is ProviderId => (providerIds as readonly string[]).includes(text)

export const AuthProvider = Type.Object({
  id: OneOf(providerIds),
  name: Type.String({ description: 'What it is called on the login page', examples: ['Google'] }),
  authorizeUrl: Type.String({
    description: 'Where a browser begins to sign in',
    examples: ['https://cp.example.com/v1/auth/oauth/google'],
  }),
})
export type AuthProvider = Static<typeof AuthProvider>

export const Identity = Type.Object({
  provider: OneOf(providerIds),
  issuer: Type.String({ description: 'Who vouches for it', examples: ['https://accounts.google.com'] }),
  email: Type.Optional(Type.String({ description: 'Its e-mail address when it was linked' })),
  createdAt: Time,
})
export type Identity = Static<typeof Identity>

const MAX_PATH_CHARS = 1000

/** What browsers read as another host (`//host`, `/\host`) is no path of ours. */
export const ownPathPattern = '^/(?![/\\\\])[!-\\[\\]-~]*$'

export const OwnPath = Type.String({
  maxLength: MAX_PATH_CHARS,
  pattern: ownPathPattern,
  description: 'Path of a page of ours to go to afterwards',
  examples: ['/account'],
})

/** Whether a text is such a path after a browser has read it: `/account/../v1/…` would lead from a page of ours to the API. */
export const isOwnPath = (text: string): boolean =>
  text.length <= MAX_PATH_CHARS && new RegExp(ownPathPattern).test(text) && isResolved(text) && !/^\/v1(?:[/?#]|$)/i.test(text)

const isResolved = (path: string): boolean => new URL(path, 'http://own.invalid').pathname === path.split(/[?#]/, 1)[0]

/** The `error` in the query of the page that the browser is sent to, and the sentence that it shows. */
export const oauthProblems = {
  oauth_cancelled: 'You did not finish signing in at the provider. Try again, or choose another way.',
  oauth_expired: 'This sign-in took too long, was used before, or began in another browser. Begin again.',
  oauth_refused:
    'What the provider answered could not be verified, so nobody was signed in. Begin again, and tell your administrator if it happens twice.',
  oauth_unavailable: 'The provider cannot be reached at the moment. Try again in a minute, or choose another way.',
  email_unverified:
    'The provider has not verified your e-mail address. Verify it there and try again, or log in with your password and link the provider on your account page.',
  account_exists:
    'There is an account with this e-mail address already. Log in to it with your password, then link the provider on your account page. If you have no password, ask for a reset by e-mail.',
  registration_closed:
    'There is no account with this e-mail address, and registration is closed here. Ask an administrator for an invitation.',
  invite_invalid: 'This invitation is for another e-mail address, has expired, or was used before. Ask for a new one.',
  no_workspace: 'You are not a member of any workspace. Ask an administrator for an invitation.',
  link_needs_login: 'Log in once more before you link a provider, so that nobody else can do it at your open browser.',
  identity_taken: 'That account of the provider is linked to somebody else here. Log in with it and unlink it there first.',
  provider_linked: 'Another account of this provider is linked to yours. Unlink that one first.',
} as const satisfies Record<string, string>

export type OAuthProblem = keyof typeof oauthProblems

/** Where a link ends unless it is told otherwise. */
export const ACCOUNT_PATH = '/account'
/** Where a sign-in that still needs its second factor goes on. */
export const CODE_PATH = '/login/code'
