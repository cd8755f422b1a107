import { expect, test } from 'vitest'
import { refuseUserNamespaces, userNamespacesOf } from '../../../../server/apps/services/user-namespaces.ts'

const allow = { CP_USER_NAMESPACES: 'allow' } as const
const refuse = { CP_USER_NAMESPACES: 'refuse' } as const
const wanted = { allowUserNamespaces: true }

test('user namespaces are for services that want them, where the operator permits it', () => {
  expect(userNamespacesOf(allow, { settings: wanted })).toEqual({ allowsUserNamespaces: true })
  expect(userNamespacesOf(allow, { settings: {} })).toEqual({})
  expect(userNamespacesOf(refuse, { settings: wanted })).toEqual({})
})

test('asking for them where they are not permitted says how they are', () => {
  expect(() => refuseUserNamespaces(refuse, {}, wanted)).toThrow(expect.objectContaining({ code: 'validation_failed' }))
  expect(() => refuseUserNamespaces(allow, {}, wanted)).not.toThrow()
  // What was permitted once does not keep other settings from being changed.
  expect(() => refuseUserNamespaces(refuse, wanted, wanted)).not.toThrow()
  expect(() => refuseUserNamespaces(refuse, wanted, { allowUserNamespaces: false })).not.toThrow()
})
