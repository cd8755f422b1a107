import { describe, expect, test } from 'vitest'
import { decideLink, decideSignIn, mayUnlink, type SignInFacts } from '../../../../server/identity/oauth/rules.ts'

const verified = { email: 'ada@example.com', isEmailVerified: true }
const stranger: SignInFacts = {
  profile: verified,
  linkedUserId: undefined,
  namesake: undefined,
  invite: undefined,
  isRegistrationOpen: true,
}
const proven = { id: 'usr-1', isEmailProven: true, hasIdentityHere: false }
const refusal = (problem: string) => ({ kind: 'refuse', problem })

describe('a sign-in', () => {
  test.each([
    [
      'linked before enters, whatever the address is by now',
      { linkedUserId: 'usr-9', profile: { email: undefined, isEmailVerified: false } },
      { kind: 'enter', userId: 'usr-9' },
    ],
    [
      'linked before is not taken to an account of the same address',
      { linkedUserId: 'usr-9', namesake: proven },
      { kind: 'enter', userId: 'usr-9' },
    ],
    ['without an address is refused', { profile: { email: undefined, isEmailVerified: true } }, refusal('email_unverified')],
    [
      'of an unverified address is refused, though registration is open',
      { profile: { ...verified, isEmailVerified: false } },
      refusal('email_unverified'),
    ],
    [
      'of an unverified address is refused beside an account',
      { profile: { ...verified, isEmailVerified: false }, namesake: proven },
      refusal('email_unverified'),
    ],
    ['is linked to an account whose address is proven', { namesake: proven }, { kind: 'link_and_enter', userId: 'usr-1' }],
    [
      'is not linked to an account that somebody may have registered beforehand',
      { namesake: { ...proven, isEmailProven: false } },
      refusal('account_exists'),
    ],
    [
      'is not linked beside another account of the same provider',
      { namesake: { ...proven, hasIdentityHere: true } },
      refusal('account_exists'),
    ],
    ['of somebody new registers', {}, { kind: 'register', email: 'ada@example.com' }],
    ['of somebody new is refused while registration is closed', { isRegistrationOpen: false }, refusal('registration_closed')],
    [
      'with an invite joins, though registration is closed',
      { invite: { email: 'Ada@Example.com' }, isRegistrationOpen: false },
      { kind: 'join', email: 'ada@example.com' },
    ],
    ['with an invite for somebody else is refused', { invite: { email: 'bob@example.com' } }, refusal('invite_invalid')],
    ['with an invite that is used up is refused', { invite: { email: undefined } }, refusal('invite_invalid')],
    [
      'with a letter that only looks the same is no address of the invite',
      { invite: { email: 'ada@example.com' }, profile: { ...verified, email: 'ada@eхample.com' } },
      refusal('invite_invalid'),
    ],
  ] as const)('%s', (_, facts, decision) => {
    expect(decideSignIn({ ...stranger, ...facts })).toEqual(decision)
  })
})

describe('a link', () => {
  const facts = {
    wantedUserId: 'usr-1',
    sessionUserId: 'usr-1',
    linkedUserId: undefined,
    present: undefined,
    profile: { issuer: 'https://a', subject: '1' },
  }

  test.each([
    ['of who is logged in is made', {}, { kind: 'link' }],
    ['is refused when nobody is logged in by then', { sessionUserId: undefined }, refusal('link_needs_login')],
    ['is refused when somebody else is logged in by then', { sessionUserId: 'usr-2' }, refusal('link_needs_login')],
    ['that is there stays', { linkedUserId: 'usr-1' }, { kind: 'linked_already' }],
    ['of an account that is linked to somebody else is refused', { linkedUserId: 'usr-2' }, refusal('identity_taken')],
    ['beside another of the same issuer is refused', { present: { issuer: 'https://a', subject: '2' } }, refusal('provider_linked')],
    [
      'takes the place of one of an issuer that is configured no more',
      { present: { issuer: 'https://b', subject: '2' } },
      { kind: 'link' },
    ],
  ])('%s', (_, change, decision) => {
    expect(decideLink({ ...facts, ...change })).toEqual(decision)
  })
})

test('the only way to sign in is not unlinked', () => {
  expect(mayUnlink({ hasPassword: false, otherIdentities: 0 })).toBe(false)
  expect(mayUnlink({ hasPassword: true, otherIdentities: 0 })).toBe(true)
  expect(mayUnlink({ hasPassword: false, otherIdentities: 1 })).toBe(true)
})
