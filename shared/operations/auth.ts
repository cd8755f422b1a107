import { LoginBody, Me, RegisterBody, SignedIn, User } from '../auth.ts'
import { defineOperations } from '../operation.ts'

export const authOperations = defineOperations({
  register: {
    method: 'POST',
    path: '/v1/auth/register',
    access: 'public',
    changes: 'after_waiting',
    tag: 'Auth',
    summary: 'Register an account',
    description:
      'Signs the new user in with a session cookie. CP_REGISTRATION decides who may: anybody, who shows the token of an invite, or nobody. Who is invited joins that workspace, others get one of their own.',
    body: RegisterBody,
    responses: { 201: SignedIn },
    errors: ['forbidden', 'not_found', 'conflict'],
  },
  login: {
    method: 'POST',
    path: '/v1/auth/login',
    access: 'public',
    changes: 'after_waiting',
    tag: 'Auth',
    summary: 'Log in with e-mail and password',
    description:
      'Sets the session cookie. An account with two-factor sign-in is answered 401 with a detail at /otp until a code comes along. Attempts are limited per account and per address.',
    body: LoginBody,
    responses: { 200: SignedIn },
    errors: ['unauthorized'],
  },
  logout: {
    method: 'POST',
    path: '/v1/auth/logout',
    access: 'public',
    tag: 'Auth',
    summary: 'Log out',
    description: 'Ends the session on the server and clears the cookie. Without a session it does nothing.',
    responses: { 204: null },
  },
  me: {
    method: 'GET',
    path: '/v1/auth/me',
    access: 'authenticated',
    tag: 'Auth',
    summary: 'Who the credential belongs to, and what it may do',
    responses: { 200: Me },
  },
  getUser: {
    method: 'GET',
    path: '/v1/users',
    access: 'authenticated',
    tag: 'Auth',
    summary: 'The calling user',
    responses: { 200: User },
  },
})
