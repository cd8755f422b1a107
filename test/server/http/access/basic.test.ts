import { expect, test } from 'vitest'
import { asBasicRefusal, withPasswordAsToken } from '../../../../server/http/access/basic.ts'
import { AppError } from '../../../../shared/error.ts'

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`

const read = (authorization: string): string | null =>
  withPasswordAsToken(new Request('http://here/git', { headers: { authorization } })).headers.get('authorization')

test('the password is the token, whatever the user name', () => {
  for (const user of ['git', '', 'ada@example.com']) expect(read(basic(`${user}:cpk_key`))).toBe('Bearer cpk_key')
  expect(read(basic('git:with:colons'))).toBe('Bearer with:colons')
  expect(read('bAsIc  Z2l0OmNwa19rZXk=')).toBe('Bearer cpk_key')
})

test('what is no such password stays as it is, for whoever reads credentials to refuse', () => {
  const others = ['Bearer cpk_key', basic('cpk_key'), basic('git:'), basic('git:two words'), basic('git:new\nline'), 'Basic !', 'Basic']
  for (const one of [...others, basic(`git:${'x'.repeat(2000)}`)]) expect(read(one)).toBe(one)
})

const refused = (userAgent: string, error: AppError, status: number) =>
  asBasicRefusal(new Response('{}', { status }), { request: new Request('http://here', { headers: { 'user-agent': userAgent } }), error })

test('git hears how to ask for a password, and why it is refused in plain words', async () => {
  const asked = refused('git/2.39.5', new AppError('unauthorized', 'Show a key.'), 401)
  expect(asked.headers.get('www-authenticate')).toMatch(/^Basic realm=/)
  expect(asked.headers.get('content-type')).toMatch(/^text\/plain/)
  expect(await asked.text()).toBe('Show a key.\n')
  const other = refused('curl/8', new AppError('not_found', 'No service.'), 404)
  expect(other.headers.get('www-authenticate')).toBeNull()
  expect(await other.text()).toBe('{}')
})
