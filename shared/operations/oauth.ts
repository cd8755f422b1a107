import { Type } from '@sinclair/typebox'
import { Otp, SignedIn } from '../auth.ts'
import { AuthProvider, Identity, OwnPath } from '../oauth.ts'
import { defineOperations } from '../operation.ts'
import { PageOf, PageQuery, StrictObject } from '../schema.ts'

// No closed list: a provider that is not configured, or that nobody knows, is not found.
const params = Type.Object({ provider: Type.String({ description: 'github, google or apple', examples: ['github'] }) })

const answer = (description: string, options: object = {}) => Type.Optional(Type.String({ maxLength: 4096, description, ...options }))
/** What is good for one exchange stands in no log. */
const secret = { 'x-secret': true }
const code = answer('What the provider gives for the account', secret)
const state = answer('What the sign-in was begun with', secret)
const error = answer('Why the provider gives nothing')
const iss = answer('Issuer that answers (RFC 9207)')

export const oauthOperations = defineOperations({
  listAuthProviders: {
    method: 'GET',
    path: '/v1/auth/providers',
    access: 'public',
    tag: 'Auth',
    summary: 'Providers that people can sign in with',
    description: 'Those that are configured, and no others.',
    responses: { 200: Type.Array(AuthProvider) },
  },
  beginOAuth: {
    method: 'GET',
    path: '/v1/auth/oauth/:provider',
    access: 'public',
    takesSecret: true,
    tag: 'Auth',
    summary: 'Begin to sign in with a provider',
    description:
      'For browsers: sets a cookie and redirects to the provider, which sends the browser back. With `link=true`, the account of the provider is linked to that of the session, which must be young and ask from a page of ours.',
    params,
    query: Type.Object({
      returnTo: Type.Optional(OwnPath),
      inviteToken: Type.Optional(Type.String({ maxLength: 512, description: 'Invitation to accept' })),
      link: Type.Optional(Type.Boolean({ description: 'Link to the account of the session instead of signing in', default: false })),
    }),
    responses: { 303: null },
    errors: ['not_found'],
  },
  completeOAuth: {
    method: 'GET',
    path: '/v1/auth/oauth/:provider/callback',
    access: 'public',
    changes: 'after_waiting',
    takesSecret: true,
    tag: 'Auth',
    summary: 'Where a provider sends the browser back to',
    description: 'Redirects to a page of ours: signed in, with the session cookie set, or with `error` in the query.',
    params,
    query: Type.Object({ code, state, error, iss }),
    responses: { 303: null },
    errors: ['not_found'],
  },
  completeOAuthByForm: {
    method: 'POST',
    path: '/v1/auth/oauth/:provider/callback',
    access: 'public',
    takesSecret: true,
    isCrossSite: true,
    tag: 'Auth',
    summary: 'Where a provider has the browser send its answer as a form',
    description: 'Keeps the answer and redirects to the same path, to which the browser brings its cookies.',
    params,
    form: true,
    body: Type.Object({ code, state, error, iss, user: answer('Name of the account, the first time (JSON)') }),
    responses: { 303: null },
    errors: ['not_found'],
  },
  finishSignIn: {
    method: 'POST',
    path: '/v1/auth/login/code',
    access: 'public',
    tag: 'Auth',
    summary: 'Show the second factor of a sign-in through a provider',
    description: 'For the browser that the callback has sent to the page that asks for the code. Sets the session cookie.',
    body: StrictObject({ otp: Otp }),
    responses: { 200: SignedIn },
    errors: ['unauthorized', 'forbidden'],
  },
  listIdentities: {
    method: 'GET',
    path: '/v1/auth/identities',
    access: 'authenticated',
    usersOnly: true,
    tag: 'Auth',
    summary: 'Accounts of providers that are linked to yours',
    query: Type.Object({ ...PageQuery }),
    responses: { 200: PageOf('identity', Identity) },
  },
  unlinkIdentity: {
    method: 'DELETE',
    path: '/v1/auth/identities/:provider',
    access: 'authenticated',
    usersOnly: true,
    tag: 'Auth',
    summary: 'Unlink an account of a provider from yours',
    description: 'Refused while it is the only way to sign in.',
    params,
    responses: { 204: null },
    errors: ['conflict'],
  },
})
